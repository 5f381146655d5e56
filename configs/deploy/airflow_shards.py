"""A run in shards for Airflow 2.7 or newer: plan, mapped tasks, finish. See README.md beside this file.

The workers see archive and trees at the same paths. A mapped task that was killed, or started twice,
is tried again as it is. Exit codes 10, 12, 13 and 15 fail at once: no second try mends them.
"""

import subprocess
from datetime import datetime, timedelta

from airflow import DAG
from airflow.decorators import task
from airflow.exceptions import AirflowFailException, AirflowSkipException

VELUM = "/usr/bin/velum"
ARCHIVE = "/srv/archive"
MASKED = "/srv/velum/masked"
SHARDS = 64


def velum(*args):
    code = subprocess.run([VELUM, *args], stdin=subprocess.DEVNULL, env={}).returncode
    if code == 4:
        raise AirflowSkipException("nothing to do")
    if code in (3, 10, 12, 13, 15):
        raise AirflowFailException(f"exit code {code}")
    if code != 0:
        raise RuntimeError(f"exit code {code}")  # Airflow tries again


with DAG(
    dag_id="velum_shards",
    description="Mask an archive of clinical notes on several workers",
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,  # a second plan would take the place of the first
    default_args={"owner": "velum", "retries": 3, "retry_delay": timedelta(minutes=1), "do_xcom_push": False},
    tags=["velum"],
) as dag:

    @task
    def plan():
        velum("run", "plan", "--quiet", "--config", "/etc/velum/night.yaml", "--in", ARCHIVE, "--out", MASKED)

    @task(max_active_tis_per_dag=16)
    def shard(k):
        velum("run", "--quiet", "--plan", MASKED, "--shard", f"{k}/{SHARDS}")

    @task
    def finish():
        velum("run", "finish", MASKED, "--audit", "300", "--json")

    plan() >> shard.expand(k=list(range(1, SHARDS + 1))) >> finish()
