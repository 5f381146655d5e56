"""python -m velum: the program itself."""

from .process import main

main()
