package ipam

// Outcome is what is known about a request.
type Outcome uint8

// Outcomes of a request. Only Unknown leaves open whether it was, or will be, applied.
const (
	// Unknown: no answer, or a server timeout. It is the zero Outcome because it claims nothing.
	Unknown Outcome = iota
	// Done: applied.
	Done
	// Conflict: the object is not of the UID or version that the request names; not applied, and never will be.
	Conflict
	// NotFound: there is no such object.
	NotFound
	// Refused: rejected for another reason; not applied, and never will be.
	Refused
)

var outcomes = [...]string{
	Unknown: "unknown", Done: "done", Conflict: "conflict", NotFound: "not found", Refused: "refused",
}

func (o Outcome) String() string { return outcomes[o] }

// Because is the outcome with its reason, if there is one.
func (o Outcome) Because(why string) string {
	if why == "" {
		return o.String()
	}
	return o.String() + ": " + why
}
