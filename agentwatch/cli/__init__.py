"""The command line: it chooses the source, the front end and the exit code, and prints messages on stderr. It
may import everything, the screen only when it is drawn. No other room imports it.
"""

import os

CUT_BYTE_CODE = "a compiled module of Python is incomplete (full disk?); delete this folder: "


def cut_byte_code(error: BaseException) -> str:
    """Return the folder of the byte code that is cut short; empty if an error has another cause. Python 3.11
    leaves such a file on a full disk and under a limit of file sizes, and does not compile the source
    again."""
    trace, path = error.__traceback__, ""
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "_compile_bytecode":  # of importlib
            path = trace.tb_frame.f_locals.get("bytecode_path") or ""
        trace = trace.tb_next
    return os.path.dirname(path)
