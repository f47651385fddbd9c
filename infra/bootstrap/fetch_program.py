# The first thing that a container of a GPU engine runs, from its command line: fetches our agent, checks it, unpacks
# it and becomes it. Nothing of ours is there yet, so it uses what Python has by itself. The twin of fetch-program.mjs.
import hashlib
import io
import os
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

# The last one comes after a minute and a half.
PAUSES = (0, 1, 3, 9, 27)
env = dict(os.environ)
url, sha256, module = (env.pop("SPOTTER_PROGRAM_" + name) for name in ("URL", "SHA256", "ENTRY"))
pause_s = float(env.get("SPOTTER_PROGRAM_PAUSE_MS", "2000")) / 1000


def fetched():
    problem = ""
    for pause in PAUSES:
        time.sleep(pause * pause_s)
        try:
            with urllib.request.urlopen(url, timeout=120) as answer:
                archive = answer.read()
            found = hashlib.sha256(archive).hexdigest()
            if found == sha256:
                return archive
            problem = f"its SHA-256 is {found}, not {sha256}"
        except urllib.error.HTTPError as error:
            problem = f"it answered {error.code}"
        except (OSError, ValueError) as error:
            problem = str(error)
    raise OSError(f"{url} could not be fetched: {problem}")


def writable_home(folder):
    """Engines keep caches in their home. A user that an image does not know has none, and no name either."""
    home = env.get("HOME", "")
    return home if home not in ("", "/") and os.access(home, os.W_OK) else folder


def apt_without_other_users(folder):
    """apt downloads as a user of its own, which root in this container may not become."""
    path = os.path.join(folder, "apt.conf")
    with open(path, "w") as file:
        file.write('APT::Sandbox::User "root";\n')
    return path


try:
    folder = os.path.join(tempfile.gettempdir(), "spotter-" + sha256[:12])
    with tarfile.open(fileobj=io.BytesIO(fetched())) as archive:
        # Newer versions want to be told that it is ordinary files alone.
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    env.setdefault("SPOTTER_WORK_DIR", os.path.join(tempfile.gettempdir(), "spotter-work"))
    os.makedirs(env["SPOTTER_WORK_DIR"], exist_ok=True)
    env["HOME"] = writable_home(env["SPOTTER_WORK_DIR"])
    env.setdefault("USER", "root" if os.geteuid() == 0 else "spotter")
    env.setdefault("LOGNAME", env["USER"])
    if os.geteuid() == 0:
        env.setdefault("APT_CONFIG", apt_without_other_users(folder))
    env["PYTHONPATH"] = folder
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    # Not a child: signals reach the agent itself, and its exit code is the container's.
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-m", module], env)
except (OSError, tarfile.TarError) as error:
    sys.exit(f"container_failed: {error}")
