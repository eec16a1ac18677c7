"""Lists of words: programs, file endings, HTML elements, words for done and open. Data, no code."""

from __future__ import annotations

from typing import Final


def word_set(listed: str, separator: str | None = None) -> frozenset[str]:
    """The words in a text, between spaces or another separator."""
    return frozenset(word.strip() for word in listed.split(separator))


PROGRAMS = word_set(
    """
    ./gradlew ansible bash bazel black bun bundle cargo cd cmake composer coverage curl cypress dart
    deno docker docker-compose dotnet eslint export flake8 flutter gh git go gradle helm java javac jest
    just kubectl lake lint make mix mvn mypy ninja nix node npm npx nx php pip playwright pnpm poetry
    powershell pre-commit prettier psql pwsh py pytest python python3 rake redis-cli rspec ruby ruff
    rustc sh source sqlite3 ssh swift task terraform tox tsc turbo uv vitest wget xcodebuild yarn zsh
    """
)
"""What a command begins with."""

EXTENSIONS = word_set(
    """
    asm astro baml bash bat bib c cc cfg cjs clj cmd conf cpp cs csproj css csv d dart db diff dll
    dockerfile edn ejs env erl ex example exe exs fs fsproj gd gif go gradle graphql gz h hbs hcl hpp hs
    htm html ini ipynb j2 java jl jpeg jpg js json json5 jsonl jsx kt kts lean less lock log lua
    makefile map md mdc mdx mjs ml mod mp3 mp4 nim nix njk patch pdf php pl plist png prisma properties
    proto ps1 py pyi qmd r rb rs rst rules s sample sass scala scss service sh sln snap so sql sqlite
    sum sv svelte svg swift tar template tex tf tmpl toml ts tscn tsv tsx txt unity v vhdl vue wasm wav
    webm webp whl xml yaml yml zig zip zsh
    """
)
"""Endings that make a bare name a file."""

WEAK_EXTENSIONS = word_set(
    """
    c d db diff env example h lock log map mod patch properties r rules s sample service so sum template
    v
    """
)
"""Endings that are words as well: a bare name with one of them must be quoted."""

ELEMENTS = word_set(
    """
    a b br center code dd details div dl dt em figure h1 h2 h3 h4 h5 h6 hr i img kbd li ol p picture pre
    script source span strong style sub summary sup svg table tbody td th thead tr u ul video
    """
)
"""Tags of HTML: they shape text and name nothing."""

NOTHING = word_set(
    """
    aucun; aucune; empty; inga; keine; keiner; n/a; na; nada; nenhum; nenhuma; nessuna; nessuno; nichts;
    nil; ninguna; ninguno; no; no blockers; no issues; no open questions; none; none active;
    none at present; none at this time; none currently; none identified; none known; none remaining;
    none yet; not applicable; nothing; nothing to report; null; rien; tbd; tidak ada; немає; нет;
    ничего; なし; 无; 暂无; 暫無; 沒有; 没有; 無; 無し; 特になし; 없음; 해당 없음
    """,
    ";",
)
"""What an agent writes in a section that has nothing in it."""

DONE_WORDS = word_set(
    """
    abgeschlossen; accepted; achieved; approve; approved; closed; completado; completato; complete;
    completed; concluído; delivered; deployed; done; erledigt; fait; fatto; feito; fertig; finished;
    fixed; green; hecho; implemented; klart; landed; listo; live; livré; merged; ok; pass; passed;
    passing; ready; released; resolved; selesai; shipped; succeeded; success; successful; terminé;
    verified; abgeschlossene; erledigte; umgesetzt; completada; completados; completadas; terminado;
    terminada; terminados; terminadas; finalizado; finalizada; hecha; lista; completata; completati;
    completate; terminato; terminata; conclusa; concluso; fatta; concluída; concluídos; concluídas;
    finalizados; feita; pronto; pronta; terminée; terminés; terminées; livrée; réalisé; réalisée; faite;
    zrobione; gotowe; ukończone; hoàn thành; выполнена; готова; готов; завершена; завершён;
    завершен; закрыто; сделана; виконано; готово; зроблена; выполнено; завершено; зроблено; сделано;
    完了; 完成; 已完成; 已上线; 已修复; 通过; 済; 済み; 実装済み; 対応済み; 완료; 완료됨; 구현됨; 해결
    """,
    ";",
)
"""Words in a status cell that say done."""

OPEN_WORDS = word_set(
    """
    active; ausstehend; backlog; blocked; deferred; en cours; in progress; in-progress; missing; needed;
    needs; next; not done; not started; offen; ongoing; open; parked; partial; partially; pendente;
    pendiente; pending; planned; queued; remaining; to do; todo; upcoming; waiting; wip; à faire;
    в работе; не сделано; отложено; запланировано; в процессе; в планах; ожидает; laufend; in arbeit;
    geplant; nicht begonnen; zurückgestellt; pendientes; en proceso; por hacer; planificado; pendentes;
    em andamento; a fazer; planejado; in corso; da fare; in sospeso; prévu; reporté; w toku; do zrobienia;
    devam ediyor; bekliyor; 待办; 未完成; 未着手; 未开始; 待处理; 待定; 计划中; 进行中; 進行中; 予定; 保留;
    作業中; 대기; 진행 중; 진행중; 예정; 보류; 미완료
    """,
    ";",
)
"""Words in a status cell that say open."""

DID = word_set(
    """
    added adjusted aligned applied archived authored automated backfilled built bumped cached changed
    cleaned closed committed completed configured consolidated converted corrected created cut decoupled
    deduplicated deleted delivered deployed deprecated designed diagnosed disabled documented drafted
    dropped eliminated enabled enforced established exposed extended extracted finished fixed formatted
    gated generalized generated hardened implemented improved increased initialized installed integrated
    introduced investigated isolated landed launched linked merged migrated mocked modified moved
    normalized optimised optimized overhauled parametrized patched pinned ported promoted
    published pulled purged pushed reworked rebased rebuilt recorded redesigned reduced refactored
    refined registered released removed renamed reorganized repaired replaced resolved restored
    restructured reverted reviewed rewired rewrote routed scaffolded seeded shipped simplified split
    standardized stripped swapped switched synced tested tightened translated trimmed tuned unified
    updated upgraded validated verified wired wrapped wrote
    adicionado adicionada atualizado atualizada configurado configurada corrigido corrigida criado criada
    implementado implementada migrado migrada removido removida
    agregado agregada actualizado actualizada corregido corregida creado creada eliminado eliminada
    ajouté ajoutée corrigé corrigée créé créée implémenté implémentée migré migrée supprimé supprimée
    добавил добавили добавлен добавлена добавлено исправил исправлен исправлена исправлено обновлен
    обновлена обновлено обновил реализован реализована реализовано создан создана создано удален
    """
)
"""Verbs that tell of work that was done, as the first word of an item."""

LIKE_ADJECTIVES = word_set(
    """
    archived automated built cached closed cut deleted deprecated disabled dropped enabled exposed generated
    isolated linked merged mocked pinned published registered released restored split tested
    """
)
"""Those of them that as often say how something is: `Cached responses expire`."""

OPEN_WIDE: Final = "未完成|未実装|未実施|未着手|未対応|未实现|미구현|미수정|미완료|미배포"
"""Words that say that something is not done yet, where verbs stand last: a part of patterns."""

NO_LETTERS: Final = "".join(c if c.isalpha() else " " for c in map(chr, range(128)))
"""For `str.translate`: leaves nothing of an ASCII text but its letters and spaces."""
