# Sourced by scripts/run and scripts/test: makes .venv when it is missing or out of date, and installs tlsim into it.
# Usage: setup EXTRAS   ("" for none). The stamp records what was installed from which pyproject.toml.
setup() {
    local extras="$1" python="${PYTHON:-python3}"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "tlsim needs Python 3.11 or newer, $python is $("$python" -V 2>&1); set PYTHON to one" >&2
        exit 2
    }
    local stamp
    stamp="$("$python" -V) $(cksum <pyproject.toml) extras:"
    if [ -f .venv/stamp ] && [[ "$(cat .venv/stamp)" == "$stamp"*"[$extras]"* ]]; then
        return
    fi
    echo "setting up .venv (once; about a minute)" >&2
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${extras:+[$extras]}" >&2
    # A set-up with extras serves the runs without them too.
    echo "$stamp[$extras]${extras:+[]}" >.venv/stamp
}

# Makes .venv-lowest with exactly the lowest versions that pyproject.toml allows, and pytest.
setup_lowest() {
    local python="${PYTHON:-python3}" stamp pins
    pins="$("$python" scripts/lowest.py plot pandas)"
    stamp="$("$python" -V) $pins"
    if [ -f .venv-lowest/stamp ] && [ "$(cat .venv-lowest/stamp)" = "$stamp" ]; then
        return
    fi
    echo "setting up .venv-lowest (once; about a minute)" >&2
    rm -rf .venv-lowest
    "$python" -m venv .venv-lowest
    # shellcheck disable=SC2086  # one word a package
    .venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check $pins pytest >&2
    .venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable . >&2
    echo "$stamp" >.venv-lowest/stamp
}
