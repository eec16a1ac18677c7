"""The words that agents put over work, done and to do, and over files and checks: data, no code.

Phrases are separated by `;`. A phrase is found anywhere in a heading, a label, a tag or a key, as whole
words; one with a leading `=` counts only as the whole heading. The longest phrase wins, then the topic
that stands first among the topics. Scripts without spaces are found as substrings.
"""

from __future__ import annotations

from segue.domain.handoff.reading.notations import Topic

PHRASES_OF_WORK: dict[Topic, str] = {
    Topic.NEXT: """
        next steps; next step; tips for next session; tips for the next session; advice for next session;
        guidance for next; next action; next actions; next task; next tasks; next move; next moves; next;
        =now; what next; whats next; what is next; what comes next; up next; do next; to do next; next up;
        next session; next sessions; next agent; next thread; next owner; next worker; next chat;
        next phase; next stage; next milestone; next sprint; next valid; next safe; next priorities;
        next work; next focus; next sequence; next choose; next iteration; next pass; next wave; for next;
        start here; start with; where to start; pick up; resume here; where to resume; how to resume;
        how to continue; how to start; resume options; resume instructions; resume point; resume context;
        resume protocol; quick start next; remaining; remaining work; remaining tasks; remaining todo;
        remaining steps; still todo; still to do; still open; still needed; still pending; todo; todos;
        to do; =tbd; left to do; whats left; what is left; work left; left undone; what was left undone;
        whatwasleftundone; undone; unfinished; incomplete; not done; not yet done; whats not done;
        not started; not yet; not implemented; whats not implemented; not built; not building yet;
        not addressed; not completed; not achieved; not shipped; in progress; in flight; wip; ongoing;
        active work; current work; currently working; =active; =current; =doing; partially done;
        partially complete; partially completed; partially achieved; partial success; queued; queue;
        pending; pending work; pending tasks; pending items; pending actions; pending approvals;
        human actions pending; waiting for user; awaiting; backlog; deferred; postponed; parked; =someday;
        =later; =planned; planned work; upcoming; roadmap; plan for next; priorities; high priority;
        medium priority; low priority; top priority; immediate priority; immediate; immediately; short term;
        medium term; long term; follow up; follow ups; followup; followups; follow on; action items;
        actions required; action required; required actions; actions needed; action needed;
        consumer actions; immediate actions; recommended actions; human actions; user actions;
        recommendation; recommendations; recommended order; recommended fix; recommended approach;
        recommended next; suggested fix; suggested follow ups; suggested next; suggested approach;
        suggestions; proposed next; future work; future improvements; future enhancements; future stages;
        improvements needed; enhancements; carry forward; carry list; carryover; open items; open tasks;
        open work; open issues to fix; outstanding; outstanding work; what needs to be done;
        needs to be done; what needs immediate attention; needs attention; what to do; what you need to do;
        files to modify; files to create; files to change; files to edit; files =to update; files to touch;
        to implement; what to implement; to be implemented; to be done; specific todos; build order next;
        first actions; first steps; first thing; first things; =then; =after; after that; =soon;
        required fix; fix direction; required to activate; to submit; what to check; what to uat; to verify;
        needs verification; delivery order; execution order; before merge; build priorities;
        where were going; where we are going; memory updates needed; cleanup needed; new requirements;
        =requirements; new requirement; handoff to; nextaction; next action items; =hand off; unblocks;
        what happens next; optional next step; later sequence; to complete; to finish; to fix; to enable;
        implementation steps; needs to happen; to happen next; what to investigate; investigate first;
        on the horizon; =priority; next priority; requested response; requested action; proposed change;
        proposed changes; what reviewers should; reviewer should; how to fix; nächste schritte;
        nächster schritt; nächste; nächster; als nächstes; als erstes; was als erstes zu tun ist;
        noch zu tun; zu tun; zu tun sind; zu tun ist; danach; offene punkte; offen; nicht begonnen;
        noch offen; ausstehend; weiteres vorgehen; restarbeiten; prochaine étape; prochaines étapes;
        prochaine tâche; prochain; prochaine; prochaines; pas fait; prochaines actions; reste à faire;
        il reste à faire; à faire; où reprendre; à venir; en cours; suite; próximos passos; próximo passo;
        próximo; próxima; proximo; proxima; siguiente; proximos passos; próximos pasos; próximas acciones;
        siguiente paso; siguientes pasos; proximos pasos; próxima sesión; próxima sessão; pendiente;
        pendientes; pendente; pendentes; por hacer; a fazer; onde paramos; itens abertos; prioridade alta;
        prioridade média; prioridade baixa; tareas pendientes; para o próximo agente; para o proximo agente;
        следующие шаги; следующий шаг; дальше; что дальше; не сделано; отложено; осталось; осталось сделать;
        предстоит; в работе; проверить; планы; що потрібно зробити; наступні кроки; наступний крок;
        залишилось; далі; prossimi passi; prossimo; prossima; вимоги; після завершення; prossimo passo;
        da fare; nästa steg; återstår; att göra; vad som aterkstar; rekomendasi kerja; langkah selanjutnya;
        langkah berikutnya; 下一步; 下步; 下一次; 第一步; 第一個動作; 第一个动作; 必须先做; 未完; 修复方案;
        修正方法; 推荐修复; 必要な確認; 接下来; 接下來; 待办; 待辦; 未完成; 未做; 进行中; 進行中; 后续;
        後續; 剩余; 剩餘; 待更新; 待处理; 优先做; 优先级; 優先級; 高优先级; 中优先级; 低优先级; 还没做;
        尚未; 建议; 建議; 次にやる; 次の; 次回; 残り; 残作業; 残っている; 未着手; 未実装; 未実施; 未实现;
        未开始; 未验收; 미구현; 미배포; 着手前; 未完了; これから; やること; 今後; 予定; 다음; 남은; 대기;
        할 일; 예정; 미완료; 진행 중; 진행중; 이어가기; 권장 순서; 처리해야; 수정 방법; 해결 방법;
        수정 대상 파일; nice to have; nice to haves; critical path; stretch goals; wish list; wishlist;
        ideas for later; future plans; future tasks; future ideas; what to build next; things to do;
        things left; leftovers; =loose ends; open threads; tasks remaining; tasks left; items remaining;
        outstanding items; outstanding tasks; on deck; coming up; coming next; to be continued;
        continue from here; continue here; continuation plan; where to continue; where to pick up;
        picking up; picking this up; when you resume; when resuming; resume steps; =first task; first move;
        action plan; plan of action; =plan; =the plan; attack plan; recommended sequence; recommended path;
        recommended plan; suggested order; suggested plan; suggested tasks; proposed plan; proposed work;
        proposed tasks; required work; =required changes; must do; must fix; needs doing; need to do;
        still missing; what is missing; whats missing; what is not done; missing pieces; what remains;
        what still needs; pending review; pending verification; pending deployment; pending manual;
        =manual steps; manual actions; operator actions; =post merge; =after merge; =after merging;
        after deploy; after deployment; after approval; after completion; after landing; once merged;
        before release; before launch; before deploy; pre launch; launch checklist; release checklist;
        nächste aufgaben; was noch fehlt; was fehlt; offene aufgaben; offene todos; wie es weitergeht;
        ce qui reste; travail restant; =à suivre; lo que falta; qué falta; o que falta; falta fazer;
        tarefas pendentes; что осталось; что нужно сделать; нужно сделать; 待完成; 待做; 后续工作; 后续计划;
        下阶段; 剩余工作; 优先事项; 残タスク; 未対応; 今後の課題; 다음 단계; 다음 작업; 해야 할 일; 향후;
        후속; planned features; future features; post mvp; still owes; still owed; required tests;
        work after; changes needed; fixes needed; work needed; patches needed; implementation path;
        priority order; =first action; recommended first; optimization =opportunities; =opportunities;
        functions =to update; =to update; =investigate; =steps; investigation steps; testing steps;
        fix options; =resume; resume pointer; decision point; future areas; não foi feito;
        o que não foi feito; non è stato fatto; na pas été fait; no se hizo; que falta; cómo continuar;
        archivos a crear; archivos a tocar; a crear; a corto plazo; =esta semana; próximas semanas;
        prioritats; tasques pendents; propera sessió; не доделано; незавершённое; незавершенное;
        следующий этап; первые шаги; требует ручного; yapılacaklar; kalan; sonraki adımlar; sonraki;
        yüksek öncelik; orta öncelik; düşük öncelik; do zrobienia; następne kroki; zaległości; pozostało;
        còn lại; chưa làm; cần làm; việc cần; cần tạo; cần set; bước tiếp theo; belum; selanjutnya;
        すべきこと; 優先度高; 優先度中; 優先度低; 優先順位; 接手步骤; 恢复方式; 下次继续; 次セッション;
        laufende arbeiten; fertigzustellen; court terme; moyen terme; immédiat; ce qui attend; à exécuter;
        pas été vu; pendiente para; por dónde seguir; próximos ciclos; como continuar; pendências;
        cosa resta; in sospeso; urgenti; in coda; следующая задача; следующему агенту; 待执行; 修复方向;
        待修复; 未执行; 延后; 터치하지 않은; to capture; to measure; commit strategy; 开始前; 開始前
    """,
    Topic.DONE: """
        what was done; what was accomplished; what was completed; what was built; what was implemented;
        what was delivered; what was shipped; what was fixed; what was just; what has been done;
        what is done; whats done; what got done; what i did; what we did; what we built;
        what we accomplished; what we fixed; what shipped; what landed; what changed; what just happened;
        what just shipped; what happened; what happened this session; whats been built; whats complete;
        whats built; whatwasimplemented; what exists today; done; done this session; done so far; completed;
        complete; completed work; completed tasks; completed this session; completions; recent completions;
        just completed; work completed; work performed; work done; scope completed; phases completed;
        phase completed; accomplished; accomplishments; achievements; key achievements; achieved; delivered;
        shipped; landed; merged; merged to main; closed; finished; fixed; fixes; fixes applied; fix applied;
        bug fixes; bugs fixed; issues fixed; issues resolved; resolved issues; problems solved; resolved;
        fixed findings; implemented; =implementation; implementation summary; solution implemented;
        =solution; summary; executive summary; session summary; work summary; results summary;
        quick summary; closing summary; tldr; tl dr; bottom line; recap; recap =last session; snapshot;
        =overview; changes; changes made; code changes; recent changes; key changes; change summary;
        changelog; change log; completion notes; recent actions; completion summary; codebase updates;
        updates made; =updates; new features; features implemented; features added; features completed;
        key outcomes; outcomes; actions outcomes; actions taken; actions completed; progress;
        progress so far; work log; session log; =log; activity log; =history; historical log;
        milestones reached; mission accomplished; phases touched; salient summary; salientsummary;
        refactoring done; documentation created; documentation updates; changefeed; artifacts produced;
        work state completed; implemented capabilities; capabilities added; =this session; conclusion;
        earlier sessions; what pass; keyachievements; was wurde erreicht; was schon steht; was fertig ist;
        erledigte aufgaben; erledigt; was wurde gemacht; was gemacht wurde; umgesetzt; abgeschlossen;
        fertig; zusammenfassung; änderungen; ce qui a été fait; ce qui est livré; fait; livré; terminé;
        réalisé; bugs corrigés; dernières modifications; trabajo realizado; resumen de cambios; realizado;
        completado; hecho; o que foi feito; principais realizações; realizações; conquistas;
        resultados alcancados; resultados alcançados; concluído; feito; resumo da sessão; resumo executivo;
        resumen; сделано; что сделано; выполнено; готово; завершено; исправлено; итоги; зроблено; виконано;
        fatto; completato; completati; vad som ar klart; klart; sudah jadi; selesai; 已完成; 完成的;
        完成内容; 已做; 已经完成; 修复内容; 修復內容; 改动内容; 工作内容; 本次工作; 核心成果; 总结; 總結;
        已清理; 已产出; 完了; 完了済み; 入ったもの; 最近の変更; やったこと; 実施内容; 実装済み; 修正済み;
        완료; 완료한; 완료된; 한 일; 작업 내용; 변경 사항; what i built; what i changed; what i fixed;
        what i implemented; what we changed; what we implemented; what we completed; what we shipped;
        what was added; what was changed; what was merged; what was updated; what was achieved;
        work this session; session work; session accomplishments; session achievements; session highlights;
        =highlights; =wins; done today; completed today; completed items; completed steps;
        completed features; completed phases; completed milestones; tasks completed; tasks done;
        items completed; milestones completed; steps completed; features delivered; features shipped;
        delivered this session; shipped this session; fixed this session; resolved this session;
        changes this session; changes in this session; changes delivered; already done; already implemented;
        already completed; already built; merged prs; merged pull requests; prs merged; summary of work;
        summary of changes; work accomplished; session recap; session completion; =previous session;
        =last session; =prior session; =the fix; root cause and fix; =resolution; fix details; erledigtes;
        was erledigt wurde; travail effectué; travaux réalisés; modifications apportées; tareas realizadas;
        qué se hizo; lo que se hizo; cambios realizados; tarefas concluídas; o que mudou; сделанное;
        изменения; 完成事项; 完成情况; 本次完成; 本次修改; 修改内容; 变更内容; 更新内容; 改动清单; 已实现;
        已修复; 対応済み; 実施したこと; 変更内容; 修正内容; 作業内容; 완료 항목; 수행한 작업; 변경 내용;
        수정 사항; 구현 내용; version log; recent refactoring; recent fixes; what is built; latest change;
        what exists and works; cosa abbiamo fatto; lo último que hicimos; otros cambios; закрыто;
        yapılanlar; tamamlananlar; düzeltmeler; zrobione; ukończone; đã hoàn thành; đã làm; hoàn thành;
        已交付; 新增功能; 끝났나; 완성된; behoben wurde; heute behoben; zuletzt gebaut; ce qui a été ajouté;
        tâches terminées; que se arreglaron; lo que se cerró; sesiones anteriores; foi entregue; correções;
        è stato fatto; correzioni applicate; correzioni; =chiuse; что готово; 已删除; 直したこと; 끝난 것;
        hotfixes applied; =hotfixes; fixes made; merged and pushed; new tests; tests added; tests written
    """,
    Topic.CREATED: """
        files created; file created; created files; new files; key new files; files added; added files;
        new files created; new test files; test files created; filescreated; files produced;
        generated files; deliverables; =created; =added; key files created; artifacts created; neue dateien;
        erstellte dateien; fichiers créés; archivos creados; arquivos criados; созданные файлы; новые файлы;
        新增文件; 已创建文件; 新建文件; 作成したファイル; 新規ファイル; 생성된 파일; docs created;
        documents created; scripts created; new modules; new scripts; files generated; artifacts generated
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
        files edits i made; generated edited files; file changes; uncommitted files; uncommitted changes;
        file system state; =changed; =new; uncommitted; changed paths; file highlights; files that landed;
        files affected; affected files; file list; files produced observed; files touched before; =diff;
        diffstat; files in this change; dateien geändert; fichiers touchés; archivos tocados; измененные;
        改动文件; 变更文件; 涉及文件; 文件清单; 文件改动; 変更点ファイル; 변경된 파일; 변경 파일;
        files involved; code touched; modules touched; paths touched; changes by file; file by file;
        files created or changed; files created updated; files added modified; files modified added;
        files added or modified; new and modified files; new modified files; files changed this session;
        =git diff; git diff stat; 變更清單; 变更清单; 修改清单; fichiers importants modifiés;
        documentos tocados; file modificati; 수정 파일
    """,
    Topic.CHECKS: """
        verification; verification commands; verification results; verification steps; verification proof;
        verification status; how to verify; quick verification; validation; validation commands;
        validation steps; validation performed; validation state; validation status; tests; test; =testing;
        test results; test status; tests status; test coverage; test plan; test output; testing checklist;
        testing strategy; testing commands; test infrastructure; test execution; test suite;
        test execution results; automated tests; integration tests; unit tests; smoke test; smoke tests;
        manual tests; tests run; tests passing; test command; test commands; test summary; test artifacts;
        tdd evidence; evidence; proof; proof collected; acceptance; acceptance criteria;
        acceptance criteria status; success criteria assessment; checks; quality gate; quality gates;
        quality checks; code quality; gates; gates after fix; commands run; commands to run first;
        lint status; build status; =commands; =command; build; build and test; build tests;
        build verification; build result; ci; ci run; ci status; commits; commits made; =commit;
        commit history; recent commits; recent commit history; implementation commit; performance baseline;
        benchmark; benchmarks; measurements; metrics; session metrics; overall statistics; statistics;
        self review; review status; stack readiness check; local sanity; canary; checkliste;
        test checkliste; derniers commits; тесты; проверка; 验证; 驗證; 测试; 測試; 検証; テスト; 검증;
        테스트; tested outcomes; verifikation; verifiziert
    """,
    Topic.TASKS: """
        tasks; task list; current plan; task state; subtasks; task status; task breakdown; checklist;
        check list; phase status; phase progress; work state; workflow state; current phase status;
        todo list; state of tasks; work items; =items; status summary; follow up sections; état des tâches;
        aufgaben; tareas; tarefas; задачи; 任务; 任務; タスク; 작업; items; workstreams; milestones; phases
    """,
    Topic.STATUS: """
        status; current status; quick status; session status; overall status; project status;
        deployment status; verdict; outcome; result; session outcome; final status; mission status;
        handoff status; success state; successstate; missionstatus; classification; decision status; state;
        current state; session state; where we are; where things stand; current situation;
        current top line state; current state summary; state as of; stand; aktueller stand; stand heute;
        zustand; état actuel; état; estado; estado actual; estado atual; status atual; status operasional;
        статус; состояние; текущее состояние; стан; stato; stato attuale; läge; 当前状态; 當前狀態; 状态;
        狀態; 項目状态; 项目状态; 现状; 現在の状態; 現状; 状態; 현재 상태; 라이브 상태; 상태
    """,
}
