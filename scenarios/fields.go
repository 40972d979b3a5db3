package scenarios

import (
	"net/netip"
	"reflect"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// A scenario's Go types are its grammar: the decoder, the encoder, action lines and the JSON schema all walk the same
// struct fields by these tags.
//
//	yaml      the field's name in files; "-" is no field
//	doc       one sentence for the schema
//	required  the field must be present
//	min, max  inclusive bounds of a number
//	enum      the allowed words, joined by commas
//	pattern   word, node, pod or fault: see patterns
//	one       a NodeRef that must not be "all"
//	host      a prefix that is an address with its subnet's length, so host bits are meant

// Types that the walkers treat as one value instead of descending into them.
var (
	typeDuration = reflect.TypeFor[time.Duration]()
	typePrefix   = reflect.TypeFor[netip.Prefix]()
	typePair     = reflect.TypeFor[CIDRPair]()
	typeAddr     = reflect.TypeFor[netip.Addr]()
	typeNodeRef  = reflect.TypeFor[NodeRef]()
	typeEndpoint = reflect.TypeFor[Endpoint]()
	typeNIC      = reflect.TypeFor[NIC]()
	typeLawNames = reflect.TypeFor[LawNames]()
	typeStep     = reflect.TypeFor[Step]()
	typeRows     = reflect.TypeFor[Rows]()
	typeSystem   = reflect.TypeFor[System]()
)

// wordsOf are the words that a field takes; nil: it takes others.
func wordsOf(t reflect.Type, tag reflect.StructTag) []string {
	if t == typeSystem {
		return SystemNames()
	}
	return strictyaml.Enum(tag)
}

// selfChecked is a decoded value with rules between its fields; field is "" for the value as a whole.
type selfChecked interface {
	problem() (field, message string)
}
