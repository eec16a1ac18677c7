"""The words that agents put over a part of a handoff, and the topic each one means: data, no code.

Phrases are separated by `;`. A phrase is found anywhere in a heading, a label, a tag or a key, as whole
words; one with a leading `=` counts only as the whole heading. The longest phrase wins, then the topic
that stands first here. Scripts without spaces are found as substrings.
"""

from __future__ import annotations

from enum import StrEnum


class Topic(StrEnum):
    """What a part of a handoff is about: a field of the record, or something that leads to fields."""

    __hash__ = str.__hash__
    # Topics are looked up all the time; an enumeration's own hash is written in Python.

    NEXT = "suggested_next_steps"
    DONE = "what_was_done"
    DECISIONS = "decisions_made"
    QUESTIONS = "open_questions"
    BLOCKERS = "blockers"
    FAILED = "failed_approaches"
    GOTCHAS = "gotchas"
    PATTERNS = "patterns_discovered"
    CONSTRAINTS = "constraints"
    GOAL = "goal"
    BRIEF = "next_agent_context"
    CREATED = "files_created"
    MODIFIED = "files_modified"
    CHANGED = "files_changed"
    """Files that were touched, new or not: each is told apart by its own words."""
    READING = "dependencies_for_next"
    CHECKS = "commands_run"
    """Tests, commands and their results: only what names a command has a field."""
    TASKS = "tasks"
    """Done and open work in one list: each item is told apart by its own mark."""
    STATUS = "outcome"
    CONTEXT = "critical_context"
    ASIDE = "other_sections"
    """Known to belong to no field."""
    WHOLE = "handoff"
    """The handoff itself: what is inside speaks for itself."""


PHRASES: dict[Topic, str] = {
    Topic.NEXT: """
        next steps; next step; next action; next actions; next task; next tasks; next move; next moves;
        next; =now; what next; whats next; what is next; what comes next; up next; do next; to do next;
        next up; next session; next sessions; next agent; next thread; next owner; next worker;
        next chat; next phase; next stage; next milestone; next sprint; next valid; next safe;
        next priorities; next work; next focus; next sequence; next choose; next iteration; next pass;
        next wave; for next; start here; start with; where to start; pick up; resume here;
        where to resume; how to resume; how to continue; how to start; resume options;
        resume instructions; resume point; resume context; resume protocol; quick start next; remaining;
        remaining work; remaining tasks; remaining todo; remaining steps; still todo; still to do;
        still open; still needed; still pending; todo; todos; to do; =tbd; left to do; whats left;
        what is left; work left; left undone; what was left undone; whatwasleftundone; undone;
        unfinished; incomplete; not done; not yet done; whats not done; not started; not yet;
        not implemented; whats not implemented; not built; not building yet; not addressed;
        not completed; not achieved; not shipped; in progress; in flight; wip; ongoing; active work;
        current work; currently working; =active; =current; =doing; partially done; partially complete;
        partially completed; partially achieved; partial success; queued; queue; pending; pending work;
        pending tasks; pending items; pending actions; pending approvals; human actions pending;
        waiting for user; awaiting; backlog; deferred; postponed; parked; =someday; =later; =planned;
        planned work; upcoming; roadmap; plan for next; priorities; high priority; medium priority;
        low priority; top priority; immediate priority; immediate; immediately; short term; medium term;
        long term; follow up; follow ups; followup; followups; follow on; action items;
        actions required; action required; required actions; actions needed; action needed;
        consumer actions; immediate actions; recommended actions; human actions; user actions;
        recommendation; recommendations; recommended order; recommended fix; recommended approach;
        recommended next; suggested fix; suggested follow ups; suggested next; suggested approach;
        suggestions; proposed next; future work; future improvements; future enhancements;
        future stages; improvements needed; enhancements; carry forward; carry list; carryover;
        open items; open tasks; open work; open issues to fix; outstanding; outstanding work;
        what needs to be done; needs to be done; what needs immediate attention; needs attention;
        what to do; what you need to do; files to modify; files to create; files to change;
        files to edit; files to update; files to touch; to implement; what to implement;
        to be implemented; to be done; specific todos; build order next; first actions; first steps;
        first thing; first things; =then; =after; after that; =soon; required fix; fix direction;
        required to activate; to submit; what to check; what to uat; to verify; needs verification;
        delivery order; execution order; before merge; build priorities; where were going;
        where we are going; memory updates needed; cleanup needed; new requirements; =requirements;
        new requirement; handoff to; nextaction; next action items; =hand off; unblocks;
        what happens next; optional next step; later sequence; to complete; to finish; to fix;
        to enable; implementation steps; needs to happen; to happen next; what to investigate;
        investigate first; on the horizon; =priority; next priority; requested response;
        requested action; proposed change; proposed changes; what reviewers should; reviewer should;
        how to fix; nächste schritte; nächster schritt; nächste; nächster; als nächstes; als erstes;
        was als erstes zu tun ist; noch zu tun; zu tun; zu tun sind; zu tun ist; danach; offene punkte;
        offen; nicht begonnen; noch offen; ausstehend; weiteres vorgehen; restarbeiten; prochaine étape;
        prochaines étapes; prochaine tâche; prochain; prochaine; prochaines; pas fait;
        prochaines actions; reste à faire; il reste à faire; à faire; où reprendre; à venir; en cours;
        suite; próximos passos; próximo passo; próximo; próxima; proximo; proxima; siguiente;
        proximos passos; próximos pasos; próximas acciones; siguiente paso; siguientes pasos;
        proximos pasos; próxima sesión; próxima sessão; pendiente; pendientes; pendente; pendentes;
        por hacer; a fazer; onde paramos; itens abertos; prioridade alta; prioridade média;
        prioridade baixa; tareas pendientes; para o próximo agente; para o proximo agente;
        следующие шаги; следующий шаг; дальше; что дальше; не сделано; отложено; осталось;
        осталось сделать; предстоит; в работе; проверить; планы; що потрібно зробити; наступні кроки;
        наступний крок; залишилось; далі; prossimi passi; prossimo; prossima; вимоги; після завершення;
        prossimo passo; da fare; nästa steg; återstår; att göra; vad som aterkstar; rekomendasi kerja;
        langkah selanjutnya; langkah berikutnya; 下一步; 下步; 下一次; 第一步; 第一個動作; 第一个动作;
        必须先做; 未完; 修复方案; 修正方法; 推荐修复; 必要な確認; 接下来; 接下來; 待办; 待辦; 未完成;
        未做; 进行中; 進行中; 后续; 後續; 剩余; 剩餘; 待更新; 待处理; 优先做; 优先级; 優先級; 高优先级;
        中优先级; 低优先级; 还没做; 尚未; 建议; 建議; 次にやる; 次の; 次回; 残り; 残作業; 残っている;
        未着手; 未実装; 未実施; 未实现; 未开始; 未验收; 미구현; 미배포; 着手前; 未完了; これから;
        やること; 今後; 予定; 다음; 남은; 대기; 할 일; 예정; 미완료; 진행 중; 진행중; 이어가기;
        권장 순서; 처리해야; 수정 방법; 해결 방법; 수정 대상 파일
    """,
    Topic.DONE: """
        what was done; what was accomplished; what was completed; what was built; what was implemented;
        what was delivered; what was shipped; what was fixed; what was just; what has been done;
        what is done; whats done; what got done; what i did; what we did; what we built;
        what we accomplished; what we fixed; what shipped; what landed; what changed;
        what just happened; what just shipped; what happened; what happened this session;
        whats been built; whats complete; whats built; whatwasimplemented; what exists today; done;
        done this session; done so far; completed; complete; completed work; completed tasks;
        completed this session; completions; recent completions; just completed; work completed;
        work performed; work done; scope completed; phases completed; phase completed; accomplished;
        accomplishments; achievements; key achievements; achieved; delivered; shipped; landed; merged;
        merged to main; closed; finished; fixed; fixes; fixes applied; fix applied; bug fixes;
        bugs fixed; issues fixed; issues resolved; resolved issues; problems solved; resolved;
        fixed findings; implemented; =implementation; implementation summary; solution implemented;
        =solution; summary; executive summary; session summary; work summary; results summary;
        quick summary; closing summary; tldr; tl dr; bottom line; recap; recap last session; snapshot;
        =overview; changes; changes made; code changes; recent changes; key changes; change summary;
        changelog; change log; completion notes; recent actions; completion summary; codebase updates;
        updates made; =updates; new features; features implemented; features added; features completed;
        key outcomes; outcomes; actions outcomes; actions taken; actions completed; progress;
        progress so far; work log; session log; =log; activity log; =history; historical log;
        milestones reached; mission accomplished; phases touched; salient summary; salientsummary;
        refactoring done; documentation created; documentation updates; changefeed; artifacts produced;
        work state completed; implemented capabilities; capabilities added; =this session; conclusion;
        earlier sessions; what pass; keyachievements; was wurde erreicht; was schon steht;
        was fertig ist; erledigte aufgaben; erledigt; was wurde gemacht; was gemacht wurde; umgesetzt;
        abgeschlossen; fertig; zusammenfassung; änderungen; ce qui a été fait; ce qui est livré; fait;
        livré; terminé; réalisé; bugs corrigés; dernières modifications; trabajo realizado;
        resumen de cambios; realizado; completado; hecho; o que foi feito; principais realizações;
        realizações; conquistas; resultados alcancados; resultados alcançados; concluído; feito;
        resumo da sessão; resumo executivo; resumen; сделано; что сделано; выполнено; готово; завершено;
        исправлено; итоги; зроблено; виконано; fatto; completato; completati; vad som ar klart; klart;
        sudah jadi; selesai; 已完成; 完成的; 完成内容; 已做; 已经完成; 修复内容; 修復內容; 改动内容;
        工作内容; 本次工作; 核心成果; 总结; 總結; 已清理; 已产出; 完了; 完了済み; 入ったもの;
        最近の変更; やったこと; 実施内容; 実装済み; 修正済み; 완료; 완료한; 완료된; 한 일; 작업 내용;
        변경 사항
    """,
    Topic.DECISIONS: """
        decisions made; key decisions; decisions; decision; decision log; design decisions;
        architecture decisions; architectural decisions; technical decisions; critical decisions made;
        important decisions; decisions carried forward; decisions reasoning; locked decisions;
        confirmed decisions; schema decisions; choices made; design choices; key choices; =choices;
        deviations; deviations from plan; scope changes; trade offs; tradeoffs; rationale; adr; adrs;
        entscheidungen; entscheidung; bewusste entscheidungen; décisions; décision; decisiones;
        decisión; decisión técnica; decisões; decisão; decisões arquiteturais; решения;
        ключевые решения; решение; рішення; decisioni; keputusan; 决策; 決策; 决定; 決定; 已确认决策;
        设计选择; 決着; 判断; 決定事項; 결정; 결정 사항
    """,
    Topic.QUESTIONS: """
        open questions; open question; questions; unresolved questions; questions for next;
        questions for next session; questions for discussion; unresolved; unknowns; unknown; unclear;
        open decisions; open decision; decisions needed; decision needed; pending decisions;
        questions decisions pending; decisions pending; critical decisions needed; questions for;
        open points to decide; to be decided; needs decision; need to decide; unconfirmed; to confirm;
        =clarifications; clarifications needed; open issues; still to decide; undecided; offene fragen;
        fragen; ungeklärt; unklar; questions ouvertes; preguntas abiertas; preguntas;
        perguntas em aberto; perguntas; открытые вопросы; вопросы; відкриті питання; питання;
        domande aperte; 未决问题; 开放问题; 待确认; 待確認; 疑问; 问题待定; 待决; 未決事項; 未確認;
        確認事項; 質問; 残っている判断; 미결; 질문; 확인 필요
    """,
    Topic.BLOCKERS: """
        blockers; blocker; current blockers; blocked; blocked by; blocked on; blocking; blocking issues;
        blocking constraints; active blockers; known blockers; issues blockers; blockers encountered;
        critical blockers; impediments; waiting on; risks blockers; failure reason;
        active compilation error; blockierer; blockaden; blockiert; pilot blocker; bloqueos; bloqueo;
        bloqueios; bloqueado; bloquants; bloqué; blocages; blocker aktif; блокеры; блокировки; блокери;
        заблокировано; blocchi; 阻塞; 阻碍; 阻礙; 卡点; ブロッカー; 阻害要因; 블로커; 차단 요인
    """,
    Topic.FAILED: """
        failed approaches; failed approach; failed attempts; what failed; what did not work;
        what didnt work; =failed; dead ends; dead ends explored; what we tried; approaches tried;
        tried and failed; =tried; attempts; abandoned; rejected approaches; rejected alternatives;
        mistakes and lessons; mistakes i made; errors and fixes; fehlgeschlagen; gescheitert;
        was nicht funktioniert hat; échecs; ce qui na pas marché; intentos fallidos; неудачные попытки;
        не сработало; 失败的尝试; 失敗した; 실패한
    """,
    Topic.GOTCHAS: """
        gotchas; gotcha; watch out; watch outs; watchouts; warnings; warning; caveats; caveat; pitfalls;
        common pitfalls; traps; known issues; known issue; known bugs; known problems;
        known limitations; known gaps; known risks; known deferred issues; known dirty files;
        limitations; limitation; =issues; =problems; issues; problems; problems encountered;
        issues found; issues to watch; =bugs; open bugs; bugs found; remaining issues; remaining issue;
        remaining risks; outstanding risks; remaining gaps; remaining bugs; risks; risk; =gap; =gaps;
        gaps; gaps still open; concerns; =concern; residual risks; learnings; =learned; lessons;
        lessons learned; lesson learned; mistakes; anti patterns; critical anti patterns; antipatterns;
        do not; dont; donts; do nots; what not to; not to do; avoid; things to avoid; never do; never;
        must not; =flags; flagged; review findings; audit findings; discovered issues; discoveredissues;
        technical debt; tech debt; what does not work; what doesnt work; not working; broken; failing;
        key test failures; test failures; =errors; =error; outstanding issues; what not to do next;
        what not to do; not to do next; surprises; surprises discoveries; troubleshooting;
        common issues; hazards; critical findings; security concerns; high risk; drift; regressions;
        what is missing; reopening triggers; stickies; be careful; mind the; quirks; operational gaps;
        confirmed problem; hard rules; harte regeln; harten regeln; forbidden; forbidden work;
        fallstricke; fallen; stolperfallen; hinweise; achtung; bekannte probleme; bekannte lücken;
        risiken; was man nicht tut; stolpert; pièges; vigilances; points dattention; attention; risques;
        problèmes connus; bugs potentiels; riesgos; problemas conocidos; advertencias; cuidado;
        que no conviene; lecciones; riscos; problemas conhecidos; lições aprendidas; aprendizados;
        alertas; armadilhas; известные пробелы; известные проблемы; подводные камни; риски; проблемы;
        грабли; внимание; відомі проблеми; ризики; problemi noti; rischi; attenzione; catatan penting;
        risiko; 已知问题; 已知問題; 已知坑; 坑; 注意事项; 注意事項; 注意点; 风险; 風險; 明确不做; 不要;
        存在的问题; 落とし穴; 注意; 既知の問題; リスク; 罠; 알려진 이슈; 반복 이슈; 주의; 함정; 위험;
        알려진 문제
    """,
    Topic.PATTERNS: """
        patterns discovered; patterns; pattern; patterns worth lifting; key patterns;
        patterns to follow; conventions; convention; commit conventions; coding conventions;
        best practices; what worked; =worked; what worked well; patterns learned; codebase patterns;
        konventionen; commit messages; соглашения; 规约; 規約; 約定; 컨벤션
    """,
    Topic.CONSTRAINTS: """
        constraints; constraint; constraints preferences; constraints assumptions;
        constraints preserved; user preferences; user preference; preferences; user directives;
        user instructions; user feedback preferences; user feedback; standing rules; rules;
        ground rules; hard rules the user has set; non negotiables; invariants; stable invariants;
        working norms; assumptions; boundaries; guardrails; all user messages; what the user wants;
        user concern; architectural rules; einschränkungen; vorgaben; regeln; rahmenbedingungen;
        contraintes; règles; restricciones; restrições; invariâncias; reglas; ограничения; правила;
        обмеження; vincoli; 约束; 約束; 限制; 重要约束; 原则; 制約; 守る規約; ルール; 制限事項; 제약;
        규칙; 원칙
    """,
    Topic.GOAL: """
        goal; goals; the goal; objective; objectives; session objectives; session objective; mission;
        task description; =task; =tasks objective; current task; current goal; original task;
        original intent; primary request; primary request and intent; problem statement; focus area;
        =focus; active scope; =scope; purpose; aim; intent; user request; the ask; =ask; overall goal;
        work item; =issue; story goal; product vision; big picture goal; what we are building;
        what were building; what you planned; ziel; ziele; aufgabe; zweck; worum es;
        worum es überhaupt geht; objectif; objectifs; but; objectif global; objetivo; objetivos;
        objetivo general; o que estamos construindo; цель; цели; задача; мета; завдання; obiettivo;
        obiettivi; mål; tujuan; 目标; 目標; 目的; 工作的目标; 任务目标; ゴール; 狙い; 本質; 목표; 목적;
        문제 요약
    """,
    Topic.BRIEF: """
        next agent context; context for next agent; your task; resume prompt; continuation prompt;
        resumption prompt; copy paste primer; starting prompt; new context starting prompt;
        prompt to use; next session opener; next session prompt; prompt for next; restart prompt;
        handoff prompt; kickoff prompt; agent message; 着手コピペ; 提示词
    """,
    Topic.CREATED: """
        files created; file created; created files; new files; key new files; files added; added files;
        new files created; new test files; test files created; filescreated; files produced;
        generated files; deliverables; =created; =added; key files created; artifacts created;
        neue dateien; erstellte dateien; fichiers créés; archivos creados; arquivos criados;
        созданные файлы; новые файлы; 新增文件; 已创建文件; 新建文件; 作成したファイル; 新規ファイル;
        생성된 파일
    """,
    Topic.MODIFIED: """
        files modified; file modified; modified files; files updated; updated files; files edited;
        edited files; =modified; files fixed; file fixed; files modified this session; filesmodified;
        files updated for; files deleted; deleted files; modifiés cette session; archivos modificados;
        arquivos modificados; arquivos criticos modificados; geänderte dateien; fichiers modifiés;
        измененные файлы; изменённые файлы; 修改文件; 已更新文件; 已修改文件; 変更ファイル;
        変更したファイル; 수정된 파일; 수정한 파일
    """,
    Topic.CHANGED: """
        files changed; changed files; files touched; touched files; files created modified;
        files created or modified; files created and modified; files modified created; files edits;
        files edits i made; generated edited files; file changes; uncommitted files;
        uncommitted changes; file system state; =changed; =new; uncommitted; changed paths;
        file highlights; files that landed; files affected; affected files; file list;
        files produced observed; files touched before; =diff; diffstat; files in this change;
        dateien geändert; fichiers touchés; archivos tocados; измененные; 改动文件; 变更文件; 涉及文件;
        文件清单; 文件改动; 変更点ファイル; 변경된 파일; 변경 파일
    """,
    Topic.READING: """
        key files; working set; relevant files; important files; critical files; files to read;
        files to review; files to review first; files to study; files to reference; key files to read;
        key files to review; key files to reference; required reading; reading list; read first;
        read order; what to read; critical references; =references; reference files; main files;
        key documents; key docs; docs to read; =artifacts; =artefacts; estrutura do código;
        arquivos do projeto; structure du code; file references; files of interest;
        files that matter most; =files; files and code sections; related files; where things live;
        where to find things; where things are; file locations; file structure; project structure;
        project files; code structure; main entry points; entry points; key code sections;
        wichtige dateien; wo was liegt; fichiers clés; archivos clave; arquivos importantes;
        documentos críticos; ключевые файлы; основные файлы; ключові файли; 关键文件; 关键檔案;
        相关文件; 项目结构; 先检查的文件; 主要ファイル; 関連ファイル; 参照; 주요 파일; 관련 파일;
        핵심 파일; file chiave; filer
    """,
    Topic.CHECKS: """
        verification; verification commands; verification results; verification steps;
        verification proof; verification status; how to verify; quick verification; validation;
        validation commands; validation steps; validation performed; validation state;
        validation status; tests; test; =testing; test results; test status; tests status;
        test coverage; test plan; test output; testing checklist; testing strategy; testing commands;
        test infrastructure; test execution; test suite; test execution results; automated tests;
        integration tests; unit tests; smoke test; smoke tests; manual tests; tests run; tests passing;
        test command; test commands; test summary; test artifacts; tdd evidence; evidence; proof;
        proof collected; acceptance; acceptance criteria; acceptance criteria status;
        success criteria assessment; checks; quality gate; quality gates; quality checks; code quality;
        gates; gates after fix; commands run; commands to run first; lint status; build status;
        =commands; =command; build; build and test; build tests; build verification; build result; ci;
        ci run; ci status; commits; commits made; =commit; commit history; recent commits;
        recent commit history; implementation commit; performance baseline; benchmark; benchmarks;
        measurements; metrics; session metrics; overall statistics; statistics; self review;
        review status; stack readiness check; local sanity; canary; checkliste; test checkliste;
        derniers commits; тесты; проверка; 验证; 驗證; 测试; 測試; 検証; テスト; 검증; 테스트
    """,
    Topic.TASKS: """
        tasks; task list; current plan; task state; subtasks; task status; task breakdown; checklist;
        check list; phase status; phase progress; work state; workflow state; current phase status;
        todo list; state of tasks; work items; =items; status summary; follow up sections;
        état des tâches; aufgaben; tareas; tarefas; задачи; 任务; 任務; タスク; 작업; items;
        workstreams; milestones; phases
    """,
    Topic.STATUS: """
        status; current status; quick status; session status; overall status; project status;
        deployment status; verdict; outcome; result; session outcome; final status; mission status;
        handoff status; success state; successstate; missionstatus; classification; decision status;
        state; current state; session state; where we are; where things stand; current situation;
        current top line state; current state summary; state as of; stand; aktueller stand; stand heute;
        zustand; état actuel; état; estado; estado actual; estado atual; status atual;
        status operasional; статус; состояние; текущее состояние; стан; stato; stato attuale; läge;
        当前状态; 當前狀態; 状态; 狀態; 項目状态; 项目状态; 现状; 現在の状態; 現状; 状態; 현재 상태;
        라이브 상태; 상태
    """,
    Topic.CONTEXT: """
        context; critical context; key knowledge; knowledge; important context; context notes;
        quick context; context needed; =contexte; notes; note; technical notes; implementation notes;
        architecture notes; final notes; important notes; important technical notes; other notes;
        handoff notes; key notes; notes for future; background; expected outcomes; expected outcome;
        development commands; findings; key findings; =fact; facts; facts established;
        implementation facts; observations; key technical observations; key insights;
        key technical insights; insights; discoveries; analysis; root cause; root cause analysis;
        most likely root cause; architecture; architecture reminders; architecture in seconds;
        architektur; environment; environment state; environment details; environment variables;
        env vars; infrastructure; infrastructure state; stack; tech stack; technical stack;
        backend stack state; setup; configuration; config; last commit; last commits; latest commit;
        git status; git state; git; branch; repo; repository state; repository; important; remember;
        reminders; critical reminders; critical information; what you need to know; need to know;
        needs to know; what works; what works now; what is working; whats working; working;
        key concepts; key technical concepts; key features; key functions; key implementation details;
        technical details; data model; data flow; design notes; how it works; quick reference;
        cold start orientation; orientation; tips; relay protocol; package paths; paths; locations;
        constraints and context; success criteria; important correction; correction; live state;
        background processes; handoff; problem solving; evidence data; important details;
        context updates; problem; the problem; the core problem; deployment; security;
        user data philosophy; ownership; interfaces; dependencies; references and links; links;
        resources; related documentation; documentation; important types; why; approach; design;
        strategy; state snapshot; current version; session context; quick commands; useful commands;
        key commands; known good commands; commands to get started; run commands; build order;
        how to build; how to deploy; how to run; how to use; running the; deploy; deployment steps;
        test baseline; comandos essenciais; como rodar; démarrage; запуск; 运行; 启动方式; 最新提交;
        常用命令; 実行方法; 핵심 명령; 실행 방법; 커밋; hintergrund; kontext; umgebung;
        wie gemessen wird; wo die arbeit liegt; projektkontext; contexte; vue densemble; contexto;
        contexto atual; contexto do projeto; контекст; связи; окружение; причина; контекст сессии;
        contesto; konteks; 根本原因; 原因; 症状; 원인; 증상; 项目; 项目概览; 背景; 概览; 架构; 环境;
        上下文; 说明; 数据流; 依赖; 模块; 背景情報; 環境; 前提; メモ; 構成; 土台; 배경; 구조; 환경;
        메모; 관련; 방식; 시크릿; 자동화
    """,
    Topic.ASIDE: """
        date; =created at; author; duration; token usage; estimated resource usage; budget;
        context window; session metadata; metadata; timestamp; last updated; sign off; contact; =footer;
        suggested skills; skills suggérés; end of handoff; estimated timeline; timeline; generated;
        team; license; version history; appendix; 附录; document metadata; session id; pr; prs;
        links to; time; effort; estimated time; estimated effort; estimated remaining;
        estimated completion
    """,
    Topic.WHOLE: """
        =handoff; =hand off; handoff context; handoff document; handoff summary; handoff report;
        session handoff; agent handoff; state snapshot; handover; =compaction summary; dev agent record;
        agent record; =report; task report; session report; continuity ledger; übergabe; передача; 交接;
        引き継ぎ; 인수인계
    """,
}
"""Topic -> phrases. The order of the topics breaks ties."""

DONE_MARKS = "✅✔☑🟢🎉✓"
OPEN_MARKS = "⏳🔄🚧⬜☐🔲⏭⏸🔜📋🟡⌛▶➡👉"
BAD_MARKS = "❌✗✘🔴🚫⛔"
"""Signs that stand before an item: done, open, failed."""
