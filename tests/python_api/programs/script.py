import sys

from segue import run_pipeline

result = run_pipeline("quick_fix", "The login button is broken.")
for step in result.steps:
    for claim in step.refuted:
        print(f"step {step.number}, {step.agent}: {claim.text}: {claim.reason}")
print(result.sentence)
sys.exit(result.exit_code)
