package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// generations are resources whose metadata.generation grows with each change of the spec, as that of all custom
// resources does.
var generations = map[string]bool{"ipamconfigs": true}

// statuses are resources whose status is a subresource also where objects are replaced: elsewhere tests write both at once.
var statuses = map[string]bool{"ciliumnodes": true}

// parted is what a replacement makes of an object whose status is a subresource: of the one only the status is taken, of the other all but
// that.
func parted(old, o Object, status bool) Object {
	whole, from := objectOf(o), old
	if status {
		whole, from = objectOf(old), o
		metadata(whole)["resourceVersion"], metadata(whole)["uid"] = metadata(o)["resourceVersion"], metadata(o)["uid"]
	}
	if whole["status"] = from["status"]; whole["status"] == nil {
		delete(whole, "status")
	}
	return whole
}

// kinds are what strategic merge patches are merged as.
var kinds = map[string]any{"nodes": v1.Node{}, "events": v1.Event{}, "pods": v1.Pod{}, "configmaps": v1.ConfigMap{}}

// write stores an object under the next version; kind DELETED deletes it. s.mu is held.
func (s *Server) write(key, kind string, o Object) {
	old := s.objects[key]
	s.version++
	now := o
	if kind == "DELETED" {
		o, now = objectOf(old), nil
		delete(s.objects, key)
	} else {
		s.objects[key] = o
	}
	metadata(o)["resourceVersion"] = versionText(s.version)
	s.history = append(s.history, change{s.version, key, kind, o})
	close(s.changed)
	s.changed = make(chan struct{})
	if s.Observe != nil {
		s.Observe(key, old, now)
	}
}

func (s *Server) create(p Path, o Object) refusal {
	m := metadata(o)
	name, _ := m["name"].(string)
	if name == "" {
		return refusal{http.StatusUnprocessableEntity, "a name is needed", "metadata.name"}
	}
	if p.Namespace != "" { // k8s.io/apiserver 0.36, registry/rest/meta.go, EnsureObjectNamespaceMatchesRequestNamespace
		m["namespace"] = p.Namespace
	}
	key := p.prefix() + name
	if s.objects[key] != nil {
		return refusal{code: http.StatusConflict, why: "exists"}
	}
	if m["uid"] == nil {
		s.uids++
		m["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.uids) // clients read UUIDs
	}
	if statuses[p.Resource] {
		delete(o, "status")
	}
	if generations[p.Resource] {
		m["generation"] = 1.0
	}
	s.write(key, "ADDED", o)
	return refusal{}
}

// remove deletes an object, where body names no other version of it.
func (s *Server) remove(key string, body []byte) refusal {
	var options metav1.DeleteOptions
	if len(body) > 0 {
		if err := json.Unmarshal(body, &options); err != nil {
			return refusal{code: http.StatusBadRequest, why: err.Error()}
		}
	}
	old := s.objects[key]
	if old == nil {
		return refusal{code: http.StatusNotFound}
	}
	if p := options.Preconditions; p != nil && (p.ResourceVersion != nil && *p.ResourceVersion != metadata(old)["resourceVersion"] ||
		p.UID != nil && string(*p.UID) != metadata(old)["uid"]) {
		return refusal{code: http.StatusConflict}
	}
	s.write(key, "DELETED", nil)
	return refusal{}
}

// update replaces an object, and returns what is there then.
func (s *Server) update(key string, o Object) (Object, refusal) {
	old := s.objects[key]
	if old == nil {
		return nil, refusal{code: http.StatusNotFound}
	}
	was, is := metadata(old), metadata(o)
	if is["uid"] == nil { // k8s.io/apimachinery 0.36, pkg/api/validation, ValidateObjectMetaAccessorUpdate
		is["uid"] = was["uid"]
	}
	switch {
	case is["resourceVersion"] != was["resourceVersion"]:
		return nil, refusal{code: http.StatusConflict, why: "the object has been modified"}
	case is["uid"] != was["uid"]:
		return nil, refusal{http.StatusUnprocessableEntity, "field is immutable", "metadata.uid"}
	case !reflect.DeepEqual(CIDRs(old), CIDRs(o)) && len(CIDRs(old)) > 0:
		return nil, refusal{http.StatusUnprocessableEntity, `node updates may not change podCIDR except from "" to valid`, "spec.podCIDRs"}
	case reflect.DeepEqual(old, o):
		return o, refusal{}
	}
	if generations[resourceOf(key)] {
		was, _ := was["generation"].(float64)
		is["generation"] = was
		if !reflect.DeepEqual(old["spec"], o["spec"]) {
			is["generation"] = was + 1
		}
	}
	s.write(key, "MODIFIED", o)
	return o, refusal{}
}

func (s *Server) patch(p Path, kind string, body []byte) (o Object, no refusal) {
	key := p.prefix() + p.Name
	old := s.objects[key]
	if old == nil {
		return nil, refusal{code: http.StatusNotFound}
	}
	switch types.PatchType(kind) {
	case types.StrategicMergePatchType:
		whole, err := json.Marshal(old)
		if err == nil {
			whole, err = strategicpatch.StrategicMergePatch(whole, body, kinds[p.Resource])
		}
		if err == nil {
			err = json.Unmarshal(whole, &o)
		}
		if err != nil {
			return nil, refusal{code: http.StatusBadRequest, why: err.Error()}
		}
	case types.MergePatchType:
		change := Object{}
		if err := json.Unmarshal(body, &change); err != nil {
			return nil, refusal{code: http.StatusBadRequest, why: err.Error()}
		}
		o = objectOf(old)
		mergePatch(o, change)
	case types.JSONPatchType: // k8s.io/apiserver 0.36, endpoints/handlers/patch.go, applyJSPatch: what cannot be applied is 422
		ops, err := jsonpatch.DecodePatch(body)
		if err != nil {
			return nil, refusal{code: http.StatusBadRequest, why: err.Error()}
		}
		whole, err := json.Marshal(old)
		if err == nil {
			whole, err = ops.Apply(whole)
		}
		if err != nil {
			return nil, refusal{code: http.StatusUnprocessableEntity, why: err.Error()}
		}
		if err := json.Unmarshal(whole, &o); err != nil {
			return nil, refusal{code: http.StatusBadRequest, why: err.Error()}
		}
	default:
		return nil, refusal{code: http.StatusUnsupportedMediaType, why: kind}
	}
	if p.Sub == "status" {
		whole := objectOf(old)
		whole["status"] = o["status"]
		o = whole
	} else if o["status"] = old["status"]; o["status"] == nil {
		delete(o, "status")
	}
	return s.update(key, o)
}

// mergePatch is RFC 7386, but for nulls, which stay.
func mergePatch(o, p Object) {
	for k, v := range p {
		if part, isObject := v.(Object); isObject {
			if o[k] == nil {
				o[k] = Object{}
			}
			if into, ok := o[k].(Object); ok {
				mergePatch(into, part)
				continue
			}
		}
		o[k] = v
	}
}

// Put creates an object, or writes over the one of its name, whose UID stays and, of a Node that has them, pod CIDRs.
func (s *Server) Put(resource string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := objectOf(obj)
	m := metadata(o)
	p := Path{Resource: resource}
	p.Namespace, _ = m["namespace"].(string)
	p.Name, _ = m["name"].(string)
	old := s.objects[p.prefix()+p.Name]
	if old == nil {
		s.create(p, o)
		return
	}
	for _, k := range []string{"uid", "resourceVersion"} {
		m[k] = metadata(old)[k]
	}
	if resource == "nodes" && len(CIDRs(old)) > 0 {
		o["spec"] = old["spec"]
	}
	s.update(p.prefix()+p.Name, o)
}

// Remove deletes an object, if it is there.
func (s *Server) Remove(resource, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(Path{Resource: resource, Namespace: namespace}.prefix()+name, nil)
}

// CIDRs are a Node's spec.podCIDRs.
func CIDRs(o Object) (list []string) {
	spec, _ := o["spec"].(Object)
	texts, _ := spec["podCIDRs"].([]any)
	for _, t := range texts {
		if text, ok := t.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// Name is an object's metadata.name, empty for none.
func Name(o Object) string {
	m, _ := o["metadata"].(Object)
	name, _ := m["name"].(string)
	return name
}

// UID is an object's metadata.uid.
func UID(o Object) string {
	uid, _ := metadata(o)["uid"].(string)
	return uid
}
