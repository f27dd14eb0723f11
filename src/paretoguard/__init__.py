"""Which of these options are the best trade-offs within my guardrails, and why is every other one out?

    import paretoguard as pg

`Problem` states the question, `identify` answers it by measuring, `simulate` tells what that would cost. Names are
loaded when first used, so that importing the package is quick; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
