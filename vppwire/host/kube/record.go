package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// The custom resource that agents keep the records of node IDs in; fixtures/kubernetes/base/crd.yaml defines it.
const (
	Group          = "vppdrill.github.io"
	RecordVersion  = "v1alpha1"
	RecordKind     = "NodeIDRecord"
	RecordResource = "nodeidrecords"
)

// RecordsPath is where the server has records.
const RecordsPath = "/apis/" + Group + "/" + RecordVersion + "/" + RecordResource

// identityName is of the one object that stands for the data.
const identityName = "identity"

// NodeIDRecord is one key of the store as an object of the cluster.
type NodeIDRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              NodeIDRecordSpec `json:"spec"`
}

// NodeIDRecordSpec is what a store keeps under a key.
type NodeIDRecordSpec struct {
	// Key is the key: allocatedIDs/ID for a node's record. Record is its value, a record's JSON.
	Key    string `json:"key,omitempty"`
	Record string `json:"record,omitempty"`
}

// recordList is what a list answers.
type recordList struct {
	metav1.ListMeta `json:"metadata"`
	Items           []NodeIDRecord `json:"items"`
}

// recordName is what a key's object is called. Keys that differ in the case of letters alone would share one; agents'
// keys do not.
func recordName(key string) (string, error) {
	name := strings.ToLower(strings.ReplaceAll(key, "/", "."))
	if why := validation.IsDNS1123Subdomain(name); len(why) > 0 {
		return "", fmt.Errorf("key %q: %s", key, why[0])
	}
	return name, nil
}

func newRecord(name, key, value, version string) *NodeIDRecord {
	return &NodeIDRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: Group + "/" + RecordVersion, Kind: RecordKind},
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version},
		Spec:       NodeIDRecordSpec{Key: key, Record: value},
	}
}

// under reports whether a record is one of the keys that begin like this.
func (r *NodeIDRecord) under(prefix string) bool {
	return r.Name != identityName && strings.HasPrefix(r.Spec.Key, prefix)
}

func (r *NodeIDRecord) item() (agent.StoreItem, error) {
	at, err := revision(r.ResourceVersion)
	return agent.StoreItem{Key: r.Spec.Key, Value: r.Spec.Record, ModRevision: at}, err
}

// known is what the data is known by, where this object stands for it.
func (r *NodeIDRecord) known() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.UID)) // a hash does not fail
	return max(1, h.Sum64())
}

// identity is 0 where the list has none.
func (l *recordList) identity() uint64 {
	for i := range l.Items {
		if l.Items[i].Name == identityName {
			return l.Items[i].known()
		}
	}
	return 0
}

// revision is a resourceVersion as a number: etcd's revision, and comparable from Kubernetes 1.35 on by contract,
// before that in fact.
func revision(version string) (int64, error) {
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion %q is no number", version)
	}
	return n, nil
}

func version(revision int64) string { return strconv.FormatInt(revision, 10) }

// statusCode is a server's refusal in HTTP's words, 0 where it did not refuse.
func statusCode(err error) int32 {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code
	}
	return 0
}

// refused reports whether a server has said that it will not: asking again does not help.
func refused(err error) bool {
	code := statusCode(err)
	return code == http.StatusForbidden || code == http.StatusUnauthorized || code == http.StatusNotFound || code == http.StatusUnprocessableEntity
}

// request is one to the server about a record, or about all without a name. It is never repeated by the client's
// library.
func (s *Store) request(verb, name string, body []byte) *rest.Request {
	r := s.cfg.Client.CoreV1().RESTClient().Verb(verb).MaxRetries(0).SetHeader("Accept", "application/json")
	if name == "" {
		r = r.AbsPath(RecordsPath)
	} else {
		r = r.AbsPath(RecordsPath, name)
	}
	if body != nil {
		r = r.SetHeader("Content-Type", "application/json").Body(body)
	}
	return r
}

// write creates or updates a record.
func (s *Store) write(ctx context.Context, verb, name string, record *NodeIDRecord) (*NodeIDRecord, error) {
	body, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	text, err := s.request(verb, name, body).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	out := new(NodeIDRecord)
	return out, json.Unmarshal(text, out)
}

func (s *Store) get(ctx context.Context, name string) (*NodeIDRecord, error) {
	text, err := s.request(http.MethodGet, name, nil).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	out := new(NodeIDRecord)
	return out, json.Unmarshal(text, out)
}

// records lists those that a field selector chooses, empty for all, as they are now.
func (s *Store) records(ctx context.Context, selector string) (*recordList, error) {
	r := s.request(http.MethodGet, "", nil)
	if selector != "" {
		r = r.Param("fieldSelector", selector)
	}
	text, err := r.Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	out := new(recordList)
	return out, json.Unmarshal(text, out)
}
