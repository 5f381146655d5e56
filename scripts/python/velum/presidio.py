"""velum within Presidio: a recognizer for its analyzer, an operator for its anonymizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_anonymizer.operators import Operator, OperatorType

from .process import Session, Span

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .process import Options

#: what Presidio calls what velum finds; a label that is not here keeps its name
ENTITIES = {"TELEPHONE": "PHONE_NUMBER", "EMAIL": "EMAIL_ADDRESS", "DATE": "DATE_TIME", "DNI": "ES_NIF", "IBAN": "IBAN_CODE"}

#: all that the default model and the patterns find
FOUND = ["PERSON", "LOCATION", "PHONE_NUMBER", "EMAIL_ADDRESS", "ES_NIF", "SOCIAL_SECURITY_ID", "SANITARY_CARD_ID", "DATE_TIME", "AGE",
         "URL", "IP_ADDRESS", "POSTAL_CODE", "IBAN_CODE", "LICENSE_PLATE", "COLLEGIATE_ID", "RECORD_ID", "PASSPORT"]  # fmt: skip


class VelumRecognizer(EntityRecognizer):
    """A recognizer of Presidio's analyzer. Options are those of ``velum.mask``.

    A text of which velum cannot vouch for all is one entity of the type VELUM_UNSAFE from end to end.
    """

    def __init__(self, supported_language: str = "es", **options: Unpack[Options]) -> None:
        self._session: Session | None = None
        self._options = options
        super().__init__(supported_entities=[*FOUND, "VELUM_UNSAFE"], supported_language=supported_language, name="VelumRecognizer")

    def load(self) -> None:
        self._session = Session("tag", **self._options)

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        row = self._session(text)  # type: ignore[misc]
        if row["status"] != "tagged":
            return [RecognizerResult("VELUM_UNSAFE", 0, len(text), 1.0)] if text else []
        spans = [Span(**s) for s in row["spans"]]
        found = [RecognizerResult(ENTITIES.get(s.label, s.label), s.start, s.end, s.score) for s in spans]
        return [r for r in found if not entities or r.entity_type in entities]


class VelumOperator(Operator):
    """The operator ``velum`` of Presidio's anonymizer: a value as velum masks it by itself.

    Parameters are the options of ``velum.mask``. What velum does not mask without its note becomes
    its type in brackets, [PERSON].
    """

    _sessions: dict[str, Session] = {}

    def operate(self, text: str | None = None, params: dict[str, Any] | None = None) -> str:
        options = {k: v for k, v in (params or {}).items() if k not in ("entity_type",)}
        session = self._sessions.get(repr(options)) or self._sessions.setdefault(repr(options), Session("mask", **options))
        row = session(text or "")
        changed = row["text"] is not None and not any(word in row["text"] for word in (text or "").split())
        return row["text"] if changed else f"[{(params or {}).get('entity_type', 'PHI')}]"

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Options are checked when the program starts."""

    def operator_name(self) -> str:
        return "velum"

    def operator_type(self) -> OperatorType:
        return OperatorType.Anonymize
