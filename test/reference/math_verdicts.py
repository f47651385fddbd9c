"""Writes the verdicts of the Python package math-verify into the table that mathEqual is tested on.

    python3 -m venv .cache/math-verify && .cache/math-verify/bin/pip install math-verify==0.9.0
    .cache/math-verify/bin/python test/reference/math_verdicts.py

Pairs are added to test/fixtures/math/math-verify.json by hand, without a verdict. math-verify reads expressions with letters only between
dollar signs; pairs of plain writing have none, and are given to it within them (`delimited`). A pair that mathEqual
judges otherwise says why in `disagreement`, which is kept.
"""

import json
import logging
import pathlib
from importlib.metadata import version

from math_verify import parse, verify

TABLE = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "math" / "math-verify.json"


def main():
    logging.disable(logging.CRITICAL)
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    table["version"] = version("math-verify")
    for pair in table["pairs"]:
        given = {key: f"${pair[key]}$" if pair.get("delimited") else pair[key] for key in ("expected", "answer")}
        pair["verdict"] = bool(verify(parse(given["expected"]), parse(given["answer"])))
    lines = ",\n".join(f"    {json.dumps(pair, ensure_ascii=False)}" for pair in table["pairs"])
    head = json.dumps({key: table[key] for key in ("package", "version")})[1:-1]
    TABLE.write_text(f'{{\n  {head},\n  "pairs": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
