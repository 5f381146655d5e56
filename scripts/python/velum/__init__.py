"""velum: personal health information out of clinical notes, without a network.

The wheel holds the velum program. These functions start it and send notes through a pipe:

    >>> import velum
    >>> velum.mask(["Avisa a la Dra. Rovira, tel 600 123 456"])
    ['Avisa a la Dra. [PERSON], tel [TELEPHONE]']

A note that velum cannot vouch for has no text in what comes back (None), and frames say why in
the column ``status``. Options are those of the command line: see ``velum help masking``.
"""

from .frames import map_in_arrow, mask, tag, to_dataset, to_docbin
from .process import Session, Span, VelumError, evaluate, program, run

__all__ = ["Session", "Span", "VelumError", "evaluate", "map_in_arrow", "mask", "program", "run", "tag", "to_dataset", "to_docbin"]
