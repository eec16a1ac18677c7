"""The words that agents put over decisions, questions, traps, goals and background: data, no code.

They are read as `phrases_of_work.py` says.
"""

from __future__ import annotations

from segue.domain.handoff.reading.notations import Topic

PHRASES_OF_KNOWLEDGE: dict[Topic, str] = {
    Topic.DECISIONS: """
        decisions made; key decisions; decisions; decision; decision log; design decisions;
        architecture decisions; architectural decisions; technical decisions; critical decisions made;
        important decisions; decisions carried forward; decisions reasoning; locked decisions;
        confirmed decisions; schema decisions; choices made; design choices; key choices; =choices;
        deviations; deviations from plan; scope changes; trade offs; tradeoffs; rationale; adr; adrs;
        entscheidungen; entscheidung; bewusste entscheidungen; décisions; décision; decisiones; decisión;
        decisión técnica; decisões; decisão; decisões arquiteturais; решения; ключевые решения; решение;
        рішення; decisioni; keputusan; 决策; 決策; 决定; 決定; 已确认决策; 设计选择; 決着; 判断; 決定事項;
        결정; 결정 사항; what was decided; what we decided; decisions taken; decisions locked;
        agreed approach; agreements; why we chose; why this approach; design rationale; technical choices;
        technology choices; architecture choices; chosen approach; approach chosen; settled questions;
        product decisions; user decisions; owner decisions; scope decisions; judgment calls;
        judgement calls; choix techniques; decisiones tomadas; decisões tomadas; принятые решения;
        getroffene entscheidungen; 技术选型; 决策记录; 设计决策; 設計判断; 설계 결정; =decided;
        what is decided; chosen direction; rejected directions; what we are not building; penyimpangan;
        decyzje; kararlar; 決めたこと; 確定事項; 確定した; 却下した; 変更理由; 已取消; choix darchitecture;
        les décisions; decisões registradas; что решили; отклонения от; 決まっていること; 設計上の意図;
        정한 것
    """,
    Topic.QUESTIONS: """
        open questions; open question; questions; unresolved questions; questions for next;
        questions for next session; questions for discussion; unresolved; unknowns; unknown; unclear;
        open decisions; open decision; decisions needed; decision needed; pending decisions;
        questions decisions pending; decisions pending; critical decisions needed; questions for;
        open points to decide; to be decided; needs decision; need to decide; unconfirmed; to confirm;
        =clarifications; clarifications needed; open issues; still to decide; undecided; offene fragen;
        fragen; ungeklärt; unklar; questions ouvertes; preguntas abiertas; preguntas; perguntas em aberto;
        perguntas; открытые вопросы; вопросы; відкриті питання; питання; domande aperte; 未决问题; 开放问题;
        待确认; 待確認; 疑问; 问题待定; 待决; 未決事項; 未確認; 確認事項; 質問; 残っている判断; 미결; 질문;
        확인 필요; open points; open topics; to discuss; for discussion; discussion points; needs input;
        needs your input; input needed; needs clarification; awaiting decision; awaiting input;
        questions for you; questions for the user; questions to answer; still unclear; still undecided;
        still unknown; unanswered; unanswered questions; to clarify; pending questions;
        outstanding questions; remaining questions; remaining decisions; remaining unknowns;
        unverified assumptions; to be confirmed; points ouverts; questions en suspens; dudas; dúvidas;
        questões em aberto; 待讨论; 待定; 不确定; 未解決; 미해결; design decisions pending;
        decisions still pending; decisions to make; user inputs needed; inputs needed; inputs still needed;
        open inputs; pytania; sorular; açık sorular; câu hỏi; cần thống nhất; 未決の判断; 未決; 의문;
        decisión pendiente; a confirmar; suposições a confirmar; 待评估; 需要决定; 모르는 것
    """,
    Topic.BLOCKERS: """
        blockers; blocker; current blockers; blocked; blocked by; blocked on; blocking; blocking issues;
        blocking constraints; active blockers; known blockers; issues blockers; blockers encountered;
        critical blockers; impediments; waiting on; risks blockers; failure reason;
        active compilation error; blockierer; blockaden; blockiert; pilot blocker; bloqueos; bloqueo;
        bloqueios; bloqueado; bloquants; bloqué; blocages; blocker aktif; блокеры; блокировки; блокери;
        заблокировано; blocchi; 阻塞; 阻碍; 阻礙; 卡点; ブロッカー; 阻害要因; 블로커; 차단 요인;
        blocked items; blocked tasks; blocked work; hard blockers; open blockers; external blockers;
        showstoppers; show stoppers; obstacles; roadblocks; whats blocking; what is blocking; what blocks;
        waiting for; gated on; points bloquants; bloqueantes; bloqueadores; что мешает; 阻塞项; 阻塞问题;
        卡住; engeller; vướng mắc; 막힌; owner gated; gated on owner; blocks live; blocks release
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
        common pitfalls; traps; known issues; known issue; known bugs; known problems; known limitations;
        known gaps; known risks; known deferred issues; known dirty files; limitations; limitation; =issues;
        =problems; issues; problems; problems encountered; issues found; issues to watch; =bugs; open bugs;
        bugs found; remaining issues; remaining issue; remaining risks; outstanding risks; remaining gaps;
        remaining bugs; risks; risk; =gap; =gaps; gaps; gaps still open; concerns; =concern; residual risks;
        learnings; =learned; lessons; lessons learned; lesson learned; mistakes; anti patterns;
        critical anti patterns; antipatterns; do not; dont; donts; do nots; what not to; not to do; avoid;
        things to avoid; never do; never; must not; =flags; flagged; review findings; audit findings;
        discovered issues; discoveredissues; technical debt; tech debt; what does not work;
        what doesnt work; not working; broken; failing; key test failures; test failures; =errors; =error;
        outstanding issues; what not to do next; what not to do; not to do next; surprises;
        surprises discoveries; troubleshooting; common issues; hazards; critical findings;
        security concerns; high risk; drift; regressions; reopening triggers; stickies; be careful;
        mind the; quirks; operational gaps; confirmed problem; hard rules; harte regeln; harten regeln;
        forbidden; forbidden work; fallstricke; fallen; stolperfallen; hinweise; achtung; bekannte probleme;
        bekannte lücken; risiken; was man nicht tut; stolpert; pièges; vigilances; points dattention;
        attention; risques; problèmes connus; bugs potentiels; riesgos; problemas conocidos; advertencias;
        cuidado; que no conviene; lecciones; riscos; problemas conhecidos; lições aprendidas; aprendizados;
        alertas; armadilhas; известные пробелы; известные проблемы; подводные камни; риски; проблемы;
        грабли; внимание; відомі проблеми; ризики; problemi noti; rischi; attenzione; catatan penting;
        risiko; 已知问题; 已知問題; 已知坑; 坑; 注意事项; 注意事項; 注意点; 风险; 風險; 明确不做; 不要;
        存在的问题; 落とし穴; 注意; 留意点; 留意事項; 既知の問題; リスク; 罠; 알려진 이슈; 반복 이슈; 주의;
        함정; 위험; 알려진 문제; watch for; watch list; things to watch; beware; be aware; be aware of;
        heads up; red flags; pain points; sharp edges; footguns; landmines; blind spots; blindspots;
        weaknesses; shortcomings; edge cases; known quirks; known edge cases; known defects; known failures;
        known flakes; flaky tests; failing tests; failed tests; defects; active bugs; current bugs;
        current issues; current problems; existing issues; outstanding bugs; outstanding problems;
        remaining problems; remaining limitations; remaining concerns; unresolved issues; unresolved bugs;
        security risks; risk register; risks and mitigations; risk assessment; what went wrong; what broke;
        mistakes made; mistakes to avoid; common mistakes; key lessons; key learnings; what we learned;
        what i learned; takeaways; key takeaways; do not touch; do not change; off limits; prohibited;
        not allowed; workarounds; stolpersteine; bekannte fehler; points de vigilance; limites connues;
        erreurs à éviter; limitaciones; limitações; pontos de atenção; не делать; уроки; 遗留问题; 已知限制;
        教训; 经验教训; 踩坑; 避坑; 警告; 待解决问题; 懸念; 懸念点; 既知の不具合; 不具合; 주의사항;
        알려진 버그; 문제점; 교훈; things to know; before you touch; will surprise you; known open issues;
        known open bugs; carried into next session; =out of scope; hors périmètre; fuera de alcance;
        не трогать; stolperfalle; feste regeln; piège; ostrzeżenia; znane problemy; pułapki;
        bilinen sorunlar; bilinen sınırlamalar; sorunlar; uyarılar; lưu ý; rủi ro; 陷阱; 绝对红线; 红线;
        守るべきこと; 禁じ手; 潜在課題; 未修的问题; 未修的問題; =wichtig; =importante; trampas;
        problemi aperti; trappole; известные ограничения; ограничение; =критично; dívida técnica; 禁止事项;
        하지 말 것; 알게 된 것; =重要; 不允许; 不允許
    """,
    Topic.PATTERNS: """
        patterns discovered; patterns; pattern; patterns worth lifting; key patterns; patterns to follow;
        conventions; convention; commit conventions; coding conventions; best practices; what worked;
        =worked; what worked well; patterns learned; codebase patterns; konventionen; commit messages;
        соглашения; 规约; 規約; 約定; 컨벤션
    """,
    Topic.CONSTRAINTS: """
        constraints; constraint; constraints preferences; constraints assumptions; constraints preserved;
        user preferences; user preference; preferences; user directives; user instructions;
        user feedback preferences; user feedback; standing rules; rules; ground rules;
        hard rules the user has set; non negotiables; invariants; stable invariants; working norms;
        assumptions; boundaries; guardrails; all user messages; what the user wants; user concern;
        architectural rules; einschränkungen; vorgaben; regeln; rahmenbedingungen; contraintes; règles;
        restricciones; restrições; invariâncias; reglas; ограничения; правила; обмеження; vincoli; 约束;
        約束; 限制; 重要约束; 原则; 制約; 守る規約; ルール; 制限事項; 제약; 규칙; 원칙
    """,
    Topic.GOAL: """
        goal; goals; the goal; objective; objectives; session objectives; session objective; mission;
        task description; =task; =tasks objective; current task; current goal; original task;
        original intent; primary request; primary request and intent; problem statement; focus area; =focus;
        active scope; =scope; purpose; aim; intent; user request; the ask; =ask; overall goal; work item;
        =issue; story goal; product vision; big picture goal; what we are building; what were building;
        what you planned; ziel; ziele; aufgabe; zweck; worum es; worum es überhaupt geht; objectif;
        objectifs; but; objectif global; objetivo; objetivos; objetivo general; o que estamos construindo;
        цель; цели; задача; мета; завдання; obiettivo; obiettivi; mål; tujuan; 目标; 目標; 目的; 工作的目标;
        任务目标; ゴール; 狙い; 本質; 목표; 목적; 문제 요약; =the task; the mission; the objective;
        end goal; desired outcome; desired end state; north star; original request; what the user asked for;
        what was asked; problem to solve; task summary; task overview; mission statement; =target;
        target behavior; done when; готово когда; success means; 成功の定義; =auftrag; 完了の定義
    """,
    Topic.BRIEF: """
        next agent context; context for next agent; your task; resume prompt; continuation prompt;
        resumption prompt; copy paste primer; starting prompt; new context starting prompt; prompt to use;
        next session opener; next session prompt; prompt for next; restart prompt; handoff prompt;
        kickoff prompt; agent message; 着手コピペ; 提示词; einstiegs prompt; testo da incollare
    """,
    Topic.READING: """
        key files; working set; relevant files; important files; critical files; files to read;
        files to review; files to review first; files to study; files to reference; key files to read;
        key files to review; key files to reference; required reading; reading list; read first; read order;
        what to read; critical references; =references; reference files; main files; key documents;
        key docs; docs to read; =artifacts; =artefacts; estrutura do código; arquivos do projeto;
        structure du code; file references; files of interest; files that matter most; =files;
        files and code sections; related files; where things live; where to find things; where things are;
        file locations; file structure; project structure; project files; code structure; main entry points;
        entry points; key code sections; wichtige dateien; wo was liegt; fichiers clés; archivos clave;
        arquivos importantes; documentos críticos; ключевые файлы; основные файлы; ключові файли; 关键文件;
        关键檔案; 相关文件; 项目结构; 先检查的文件; 主要ファイル; 関連ファイル; 参照; 주요 파일; 관련 파일;
        핵심 파일; file chiave; filer
    """,
    Topic.CONTEXT: """
        context; critical context; key knowledge; knowledge; important context; context notes;
        quick context; context needed; =contexte; notes; note; technical notes; implementation notes;
        architecture notes; final notes; important notes; important technical notes; other notes;
        handoff notes; key notes; notes for future; background; expected outcomes; expected outcome;
        development commands; findings; key findings; =fact; facts; facts established; implementation facts;
        observations; key technical observations; key insights; key technical insights; insights;
        discoveries; analysis; root cause; root cause analysis; most likely root cause; architecture;
        architecture reminders; architecture in seconds; architektur; environment; environment state;
        environment details; environment variables; env vars; infrastructure; infrastructure state; stack;
        tech stack; technical stack; backend stack state; setup; configuration; config; last commit;
        last commits; latest commit; git status; git state; git; branch; repo; repository state; repository;
        important; remember; reminders; critical reminders; critical information; what you need to know;
        need to know; needs to know; what works; what works now; what is working; whats working; working;
        key concepts; key technical concepts; key features; key functions; key implementation details;
        technical details; data model; data flow; design notes; how it works; quick reference;
        cold start orientation; orientation; tips; relay protocol; package paths; paths; locations;
        constraints and context; success criteria; important correction; correction; live state;
        background processes; handoff; problem solving; evidence data; important details; context updates;
        problem; the problem; the core problem; deployment; security; user data philosophy; ownership;
        interfaces; dependencies; references and links; links; resources; related documentation;
        documentation; important types; why; approach; design; strategy; state snapshot; current version;
        session context; quick commands; useful commands; key commands; known good commands;
        commands to get started; run commands; build order; how to build; how to deploy; how to run;
        how to use; running the; deploy; deployment steps; test baseline; comandos essenciais; como rodar;
        démarrage; запуск; 运行; 启动方式; 最新提交; 常用命令; 実行方法; 핵심 명령; 실행 방법; 커밋;
        hintergrund; kontext; umgebung; wie gemessen wird; wo die arbeit liegt; projektkontext; contexte;
        vue densemble; contexto; contexto atual; contexto do projeto; контекст; связи; окружение; причина;
        контекст сессии; contesto; konteks; 根本原因; 原因; 症状; 원인; 증상; 项目; 项目概览; 背景; 概览;
        架构; 环境; 上下文; 说明; 数据流; 依赖; 模块; 背景情報; 環境; 前提; メモ; 構成; 土台; 배경; 구조;
        환경; 메모; 관련; 방식; 시크릿; 자동화; architecture snapshot; status snapshot; working agreements;
        test data; test users; =common tasks; measured facts; contact points; questions you might have;
        decision matrix; 任务背景
    """,
    Topic.ASIDE: """
        date; =created at; author; duration; token usage; estimated resource usage; budget; context window;
        session metadata; metadata; timestamp; last updated; sign off; contact; =footer; suggested skills;
        skills suggérés; end of handoff; estimated timeline; timeline; generated; team; license;
        version history; appendix; 附录; document metadata; session id; pr; prs; links to; time; effort;
        estimated time; estimated effort; estimated remaining; estimated completion
    """,
    Topic.WHOLE: """
        =handoff; =hand off; handoff context; handoff document; handoff summary; handoff report;
        session handoff; agent handoff; state snapshot; handover; =compaction summary; dev agent record;
        agent record; =report; task report; session report; continuity ledger; übergabe; передача; 交接;
        引き継ぎ; 인수인계
    """,
}
