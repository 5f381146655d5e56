"""The Spark recipe on Spark itself: one run, then the driver of configs/deploy/spark in a local cluster of two executors
with speculation on, one of which is killed with -9 while a shard is at work. Both trees must be the same, byte for byte.

    python3 scripts/interop/engines.py bin/velum out/engines.md

Needs Java 17 and PyPI (pyspark 4.0.1, in a virtual environment below out/engines unless it can be imported).
"""

import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
SHARDS, FILES = 12, 12
FORM = ["--from", "jsonl", "--id-column", "id", "--set", "read.unit_notes=400", "--workers", "1"]


def python():
    """An interpreter that has pyspark."""
    if subprocess.run([sys.executable, "-c", "import pyspark"], capture_output=True).returncode == 0:
        return sys.executable
    venv = HERE / "out/engines/venv"
    if not venv.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", "pyspark==4.0.1"], check=True)
    return str(venv / "bin/python")


def tree(*roots):
    """A hash of both trees, without what says when and where."""
    h = hashlib.sha256()
    for root in roots:
        for path in sorted(p for p in root.rglob("*") if p.is_file()):
            name = path.relative_to(root).as_posix()
            if not name.startswith("_audit/") and name != "_inputs":
                h.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return h.hexdigest()


def processes():
    """pid, parent and command line of all processes."""
    for p in pathlib.Path("/proc").iterdir():
        if p.name.isdigit():
            try:
                line = (p / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                parent = int((p / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            yield int(p.name), parent, line


def kill_executor(out, killed, stop):
    """Kill the executor above the first shard that has been at work for a moment."""
    while not stop.is_set() and not killed:
        everyone = {pid: (parent, line) for pid, parent, line in processes()}
        for pid, (parent, line) in everyone.items():
            if f"--plan {out} " in line and "--shard" in line and "velum_spark" not in line:
                while parent in everyone and "CoarseGrainedExecutorBackend" not in everyone[parent][1]:
                    parent = everyone[parent][0]
                if parent in everyone:
                    os.kill(parent, signal.SIGKILL)
                    killed.append(parent)
                    return
        time.sleep(0.02)


def main():
    velum, log = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        dir = pathlib.Path(folder)
        (dir / "archive").mkdir()
        for i in range(FILES):
            subprocess.run([velum, "teach", "synth", "--notes", str(400 + 60 * i), "--seed", str(i), "--out", dir / f"archive/{i:02}.jsonl"], check=True, capture_output=True)
        subprocess.run([velum, "run", "--quiet", "--in", dir / "archive", "--out", dir / "one", *FORM], check=True, capture_output=True)
        out, killed, stop = dir / "out", [], threading.Event()
        killer = threading.Thread(target=kill_executor, args=(out, killed, stop))
        killer.start()
        began = time.time()
        conf = ["--master", "local-cluster[2,1,1024]", "--conf", "spark.speculation=true", "--conf", "spark.speculation.quantile=0.5",
                "--conf", "spark.speculation.multiplier=1.2", "--conf", "spark.ui.enabled=false", "pyspark-shell"]
        env = {**os.environ, "PYSPARK_SUBMIT_ARGS": " ".join(conf), "PYSPARK_PYTHON": python()}
        driver = subprocess.run([python(), HERE / "configs/deploy/spark/velum_spark.py", "--velum", velum, "--shards", str(SHARDS), "--out", out,
                                 "--", "--in", str(dir / "archive"), *FORM[:4], f"--set={FORM[5]}", "--workers=1"], env=env, capture_output=True, text=True)
        stop.set()
        killer.join()
        seconds = time.time() - began
        if driver.returncode != 0:
            sys.exit(f"the driver ended with {driver.returncode}\n{driver.stderr[-4000:]}")
        attempts = len(list((dir / "out.private/_audit").glob("shard-*")))
        check = subprocess.run([velum, "check", out], capture_output=True, text=True)
        same = tree(dir / "one", dir / "one.private") == tree(out, dir / "out.private")
        rows = [
            "| | |",
            "|---|---|",
            f"| executors killed with -9 while a shard was at work | {len(killed)} |",
            f"| attempts, for {SHARDS} shards | {attempts} |",
            f"| both trees | {'those of one run, byte for byte' if same else 'OTHERS'} |",
            f"| `velum check` | {'sound' if check.returncode == 0 else 'NOT SOUND'} |",
            f"| wall clock with the start of Spark | {seconds:.0f} s |",
        ]
        print("\n".join(rows))
        if not (killed and attempts > SHARDS and same and check.returncode == 0):
            sys.exit("that is not what was promised")
        log.write_text("\n".join([
            "title: Shards on Spark, an executor killed in the middle",
            f"command: `make interop`: Spark 4.0.1 (PyPI), `local-cluster[2,1,1024]`, speculation on, {FILES} files, {SHARDS} shards",
            f"machine: {os.cpu_count()} cores, under the load of the day",
            f"date: {time.strftime('%Y-%m-%d')}",
            "", *rows, ""]))


if __name__ == "__main__":
    main()
