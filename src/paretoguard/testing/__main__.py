"""`python -m paretoguard.testing mymodule:MyAlgorithm …`: run the laws on each part and print each verdict."""

import sys

from paretoguard import testing
from paretoguard.errors import SettingsError, StorageError


def main(parts: list[str]) -> int:
    """Print one line for each law; 0 when all hold, 1 when one is broken, 2 when a part cannot be read."""
    if not parts or {"-h", "--help"} & {*parts}:
        lines = [
            "python -m paretoguard.testing PART …",
            "",
            "PART: a name, or module:Class[:option=value]; a storage by its URL (ledgers are left in it)",
        ]
        for title, some in (
            ("The", testing.LAWS),
            ("Of noise alone, the", testing.NOISE_LAWS),
            ("Of storages, the", testing.STORAGE_LAWS),
        ):
            lines += ["", f"{title} laws:", *(f"- {testing.sentence(law)}" for law in some)]
        print("\n".join(lines))
        return 0 if parts else 2
    broken = 0
    for part in parts:
        print(part)
        try:
            for sentence, error in testing.outcomes(part):
                print(f"  holds   {sentence}" if error is None else f"  BROKEN  {error}")
                broken += error is not None
        except (SettingsError, StorageError) as error:
            print(error, file=sys.stderr)
            return 2
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
