"""Writes the messages of the test suites of hl7 and hl7apy (from PyPI, BSD and MIT) as files."""

import ast
import pathlib
import subprocess
import sys
import tarfile

to = pathlib.Path(sys.argv[1])
if not list(to.glob("hl7/*.hl7")):
    for package in ("hl7==0.4.5", "hl7apy==1.3.5"):
        subprocess.run([to / "venv/bin/pip", "-q", "download", "--no-deps", "--no-binary", ":all:", "-d", to / "sdist", package], check=True)
    found = []
    for archive in sorted((to / "sdist").glob("*.tar.gz")):
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                if "/tests/" in member.name and member.name.endswith(".py"):
                    for node in ast.walk(ast.parse(tar.extractfile(member).read())):
                        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip().startswith("MSH|") and "\r" in node.value.strip():
                            found.append("\r".join(s.strip("\n") for s in node.value.strip().split("\r")) + "\r")
    for n, message in enumerate(dict.fromkeys(found)):
        (to / "hl7" / f"{n:03d}.hl7").write_bytes(message.encode())
