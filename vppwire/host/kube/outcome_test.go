package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: only what a server is certain of counts as certain. Method: a table of errors as client-go returns them.
func TestOutcome(t *testing.T) {
	nodes := schema.GroupResource{Resource: "nodes"}
	kind := schema.GroupKind{Kind: "Node"}
	why := errors.New("why")
	for _, c := range []struct {
		err  error
		want ipam.Outcome
	}{
		{nil, ipam.Done},
		{apierrors.NewConflict(nodes, "n", why), ipam.Conflict},
		{apierrors.NewInvalid(kind, "n", field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), "x", "field is immutable")}), ipam.Conflict},
		{apierrors.NewInvalid(kind, "n", field.ErrorList{field.Forbidden(field.NewPath("spec", "podCIDRs"), "no")}), ipam.Refused},
		{apierrors.NewNotFound(nodes, "n"), ipam.NotFound},
		{apierrors.NewForbidden(nodes, "n", why), ipam.Refused},
		{apierrors.NewUnauthorized("no"), ipam.Refused},
		{apierrors.NewTooManyRequests("later", 1), ipam.Refused},
		{apierrors.NewBadRequest("no"), ipam.Refused},
		{fmt.Errorf("patch: %w", apierrors.NewNotFound(nodes, "n")), ipam.NotFound},
		{apierrors.NewTimeoutError("slow", 1), ipam.Unknown},
		{apierrors.NewServerTimeout(nodes, "patch", 1), ipam.Unknown},
		{apierrors.NewInternalError(why), ipam.Unknown},
		{apierrors.NewServiceUnavailable("no"), ipam.Unknown},
		{apierrors.NewGenericServerResponse(408, "patch", nodes, "n", "", 0, true), ipam.Unknown},
		{apierrors.NewGenericServerResponse(502, "patch", nodes, "n", "", 0, true), ipam.Unknown},
		{context.DeadlineExceeded, ipam.Unknown},
		{context.Canceled, ipam.Unknown},
		{&url.Error{Op: "Patch", Err: io.EOF}, ipam.Unknown},
		{why, ipam.Unknown},
	} {
		if got := outcome(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}

// Goal: the clock never goes back, and goes on over a sleep, which the monotonic clock does not see.
func TestClock(t *testing.T) {
	c := newClock()
	start := c.at(0, 0)
	for _, step := range []struct {
		what                  string
		wall, monotonic, want time.Duration
	}{
		{"both go on", time.Second, time.Second, time.Second},
		{"a little drift", 2*time.Second + time.Millisecond, 2 * time.Second, 2 * time.Second},
		{"an hour of sleep", time.Hour + 3*time.Second, 3 * time.Second, time.Hour + 3*time.Second},
		{"and on", time.Hour + 4*time.Second, 4 * time.Second, time.Hour + 4*time.Second},
		{"set back", 5 * time.Second, 5 * time.Second, time.Hour + 5*time.Second},
		{"set back before the start", -time.Hour, 6 * time.Second, time.Hour + 6*time.Second},
	} {
		if got := c.at(step.wall, step.monotonic).Sub(start); got != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
	}
}
