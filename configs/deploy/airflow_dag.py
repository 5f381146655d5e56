"""A night of velum for Airflow 2.7 or newer: see README.md beside this file.

mask ends skipped, not failed, when there is nothing to do (exit code 4). It
may be started twice, which Airflow does not rule out: the second run finds the
output locked and ends with exit code 11 without touching it. A task that was
killed goes on where it stopped when it is tried again.
"""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

VELUM = "/usr/bin/velum"
ARCHIVE = "/srv/archive"
MASKED = "/srv/velum/masked"
PRIVATE = "/srv/velum/private"

with DAG(
    dag_id="velum",
    description="Mask new months of the archive of clinical notes",
    schedule="30 1 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # a run does all months that are not done yet
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=12),
    default_args={
        "owner": "velum",
        "retries": 2,
        "retry_delay": timedelta(minutes=10),
        "do_xcom_push": False,
    },
    tags=["velum"],
) as dag:
    mask = BashOperator(
        task_id="mask",
        # exec: signals of Airflow reach velum and not a shell around it
        bash_command=(
            f"exec {VELUM} run --config /etc/velum/night.yaml"
            f" --in {ARCHIVE} --out {MASKED} --private {PRIVATE} --audit 300 --json"
        ),
        env={},  # nothing of the worker's own settings
        append_env=False,
        skip_on_exit_code=4,
        execution_timeout=timedelta(hours=10),
    )

    # Every byte against the manifest, and the chain of the audit log; also
    # after a night with nothing to do.
    check = BashOperator(
        task_id="check",
        bash_command=f"exec {VELUM} check {MASKED} --private {PRIVATE} --json",
        env={},
        append_env=False,
        trigger_rule="none_failed",
        execution_timeout=timedelta(hours=2),
    )

    mask >> check
