import subprocess
import sys

import discreet.audit
from discreet.audit import testers


def test_public_names_exist_and_are_sorted() -> None:
    for module in (discreet.audit, testers):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_importing_the_library_does_not_import_the_auditor_and_the_auditor_is_light() -> None:
    program = (
        "import sys, discreet; assert 'discreet.audit' not in sys.modules;"
        "import discreet.audit; assert not {'scipy', 'hypothesis'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
