"""6: the split of a function."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_TARGET = "create_ssl_context"
_CALL = "_load_cert_chain(ctx, cert)"
_HEAD = """\
def _load_cert_chain(ctx: ssl.SSLContext, cert: CertTypes) -> None:
    import warnings
"""
_BODY = """
    message = (
        "`cert=...` is deprecated. Use `verify=<ssl_context>` instead,"
        "with `.load_cert_chain()` to configure the certificate chain."
    )
    warnings.warn(message, DeprecationWarning)
    if isinstance(cert, str):
        ctx.load_cert_chain(cert)
    else:
        ctx.load_cert_chain(*cert)
"""
"""The lines that move; ours spells them again, a script cuts them out."""

TASK = Task(
    number=6,
    title="split of a function",
    statement=(
        f"Split httpx._config.{_TARGET}: what it does where there is a cert becomes a function "
        "_load_cert_chain(ctx, cert) of its own, behind it."
    ),
    package="httpx",
    spelled=(_CALL, _HEAD),
    tests=("tests/test_config.py",),
    plain=(
        Shell("sed -n '/^def create_ssl_context/,/^class/p' httpx/_config.py"),
        Shell(
            f"""\
python - <<'E' && pytest -q tests/test_config.py | tail -1; git diff -U0 | grep ^+
p, end = "httpx/_config.py", "\\n    return ctx\\n"
s = open(p).read()
a, b = s.index('        message = (\\n            "`cert='), s.index(end)
body = s[a:b].replace("\\n    ", "\\n")[4:]
open(p, "w").write(s[:a] + '''        {_CALL}
''' + end + '''

{_HEAD}
''' + body + s[b + len(end):])
E"""
        ),
    ),
    cli=(
        Shell(f"bae-source read {_TARGET}"),
        Shell(
            f"""\
bae-source insert {_TARGET} -q --source - <<'E' && bae-source rewrite 'if cert:
 $$$B' 'if cert:
 {_CALL}' {_TARGET} -q --verify tests
{_HEAD}{_BODY}E"""
        ),
    ),
    mcp=(
        Tool("read", {"target": _TARGET}),
        Tool(
            "apply",
            {
                "requests": [
                    {"do": "insert", "target": _TARGET, "new_source": _HEAD + _BODY},
                    {
                        "do": "rewrite",
                        "pattern": "if cert:\n $$$B",
                        "replacement": f"if cert:\n {_CALL}",
                        "scope": _TARGET,
                    },
                ],
                "verify": ["tests"],
                "quiet": True,
            },
        ),
    ),
)
