#!/usr/bin/env python3
"""Makes what no tool makes: the Python wheel of a binary. Its files are the package scripts/python/velum and the binary as a script, which pip puts beside
the interpreter. The rest of a release is GoReleaser's (goreleaser.yaml), which calls this program. Before that it looks whether the binary is what is promised:
for its platform, static, without cgo, and without a path of this machine. The bytes of a wheel depend on what goes in alone."""
import argparse, base64, hashlib, io, os, re, struct, subprocess, sys, time, zipfile

SOURCE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MACHINES = {62: "linux/amd64", 183: "linux/arm64"}  # of ELF: x86-64, AArch64
TAGS = {  # platforms of a wheel: a static binary runs with any C library
    "linux/amd64": ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
    "linux/arm64": ["manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
}
# What git describe says of a commit, and GoReleaser of a snapshot: 1.2.0, 1.2.0-3-gabc1234 (three commits behind the tag), 1.2.1-gabc1234 (before that
# version). A hash alone is none: 4549639 would be a version above all others.
DESCRIBED = re.compile(r"v?(\d+(?:\.\d+)*)(?:-(?:(\d+)-)?g([0-9a-f]+))?")
METADATA = """Metadata-Version: 2.1
Name: velum
Version: %s
Summary: Personal health information out of clinical notes in Spanish and Catalan, without a network
License: Apache-2.0
Requires-Python: >=3.10
Classifier: Typing :: Typed
Classifier: Operating System :: POSIX :: Linux
Provides-Extra: frames
Requires-Dist: pyarrow>=17; extra == 'frames'
Description-Content-Type: text/markdown

%s"""


def git(*args):
    return subprocess.run(["git", *args], cwd=SOURCE, check=True, capture_output=True, text=True).stdout.strip()


def inspect(path):
    """Tells for which platform a binary is, if it is what is promised."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("it is no binary for Linux")
    machine, = struct.unpack_from("<H", data, 18)
    if machine not in MACHINES:
        raise ValueError(f"it is for machine {machine}")
    headers, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    if {2, 3} & {struct.unpack_from("<I", data, headers + k * size)[0] for k in range(count)}:  # PT_DYNAMIC, PT_INTERP
        raise ValueError("it is not static")
    settings = subprocess.run(["go", "version", "-m", path], check=True, capture_output=True, text=True).stdout
    for want in ("CGO_ENABLED=0", "-trimpath=true"):
        if f"\tbuild\t{want}\n" not in settings:
            raise ValueError("it was not built with " + want)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if any(path.encode() in data for path in (SOURCE, cache)):  # whose names are nobody's business
        raise ValueError("it holds a path of this machine")
    return MACHINES[machine]


def pep440(version):
    """A version as PEP 440 wants it."""
    m = DESCRIBED.fullmatch(version)
    if not m or not m[3] and not re.search("[v.]", version):  # a commit, where there is no tag
        return "0.dev0+g" + version.removeprefix("0.dev0+g").replace("-", ".")
    if not m[3]:
        return m[1]
    return f"{m[1]}.post{m[2]}+g{m[3]}" if m[2] else f"{m[1]}.dev0+g{m[3]}"


def package(folder):
    """The files of the Python package. What Python and its tools leave beside it is none of it."""
    for place, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(("__pycache__", "."))]
        for name in names:
            if not name.startswith("."):
                path = os.path.join(place, name)
                yield "velum/" + os.path.relpath(path, folder), open(path, "rb").read()


def pack(platform, version, binary, licences, seconds):
    """The name of a wheel, and its bytes."""
    version, tags = pep440(version), TAGS[platform]
    info, script = f"velum-{version}.dist-info/", f"velum-{version}.data/scripts/velum"
    read = lambda *path: open(os.path.join(SOURCE, *path), "rb").read()
    files = dict(package(os.path.join(SOURCE, "scripts", "python", "velum")))
    files |= {
        script: binary,
        info + "WHEEL": ("Wheel-Version: 1.0\nGenerator: velum\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{t}\n" for t in tags)).encode(),
        info + "METADATA": (METADATA % (version, read("cmd", "velum", "topics", "streams.md").decode())).encode(),
        info + "licenses/THIRD_PARTY_LICENSES": licences,
        info + "licenses/LICENSE": read("LICENSE"),
        info + "licenses/NOTICE": read("NOTICE"),
    }
    names = sorted(files)
    sums = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(files[n]).digest()).rstrip(b'=').decode()},{len(files[n])}\n" for n in names]
    files[info + "RECORD"] = ("".join(sums) + info + "RECORD,,\n").encode()
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in names + [info + "RECORD"]:
            entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, (0o100755 if name == script else 0o100644) << 16
            z.writestr(entry, files[name])
    return f"velum-{version}-py3-none-{'.'.join(tags)}.whl", to.getvalue()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--binary", default="bin/velum", help="program to put into the wheel")
    p.add_argument("--licences", required=True, metavar="FILE", help="licences of what is linked into it")
    p.add_argument("--version", help="git describe by default")
    p.add_argument("--out", default="out/wheel", help="folder to write")
    a = p.parse_args()
    try:
        platform = inspect(a.binary)
    except ValueError as wrong:
        sys.exit(f"wheel: {a.binary}: {wrong}")
    with open(a.binary, "rb") as binary, open(a.licences, "rb") as licences:
        name, data = pack(platform, a.version or git("describe", "--tags", "--always"), binary.read(), licences.read(), int(git("log", "-1", "--format=%ct")))
    os.makedirs(a.out, exist_ok=True)
    with open(os.path.join(a.out, name), "wb") as f:
        f.write(data)
    print(f"{name}: {len(data) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
