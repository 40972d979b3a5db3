package kubectl

import "time"

// eventParts are what an Event has, of version v1 or of events.k8s.io/v1, and no other kind.
type eventParts struct {
	Reason    string    `json:"reason"`
	Involved  reference `json:"involvedObject"`
	Regarding reference `json:"regarding"`
	Time      time.Time `json:"eventTime"`
	First     time.Time `json:"firstTimestamp"`
	Last      time.Time `json:"lastTimestamp"`
	// The deprecated ones are what a v1 Event becomes as one of events.k8s.io/v1.
	DeprecatedFirst time.Time `json:"deprecatedFirstTimestamp"`
	DeprecatedLast  time.Time `json:"deprecatedLastTimestamp"`
	Series          struct {
		Last time.Time `json:"lastObservedTime"`
	} `json:"series"`
}

// reference names an object.
type reference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Event is what of an Event tells of another object's life.
type Event struct {
	// Kind, Namespace and Name are the other object's.
	Kind, Namespace, Name string
	// Reason is a word such as Scheduled.
	Reason string
	// First and Last are when it happened first and last; zero when it does not say.
	First, Last time.Time
}

// Event reads an object of kind Event.
func (o Object) Event() Event {
	about := o.Involved
	if about.Kind == "" {
		about = o.Regarding
	}
	e := Event{Kind: about.Kind, Namespace: about.Namespace, Name: about.Name, Reason: o.Reason}
	for _, t := range []time.Time{o.First, o.DeprecatedFirst, o.Time, o.Last, o.DeprecatedLast, o.Series.Last} {
		if t.IsZero() {
			continue
		}
		if e.First.IsZero() || t.Before(e.First) {
			e.First = t
		}
		if t.After(e.Last) {
			e.Last = t
		}
	}
	return e
}
