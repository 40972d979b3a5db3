package kube

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// outcome is what a request's error tells about it. Only an answer of the server that is its own fault no more, 4xx, tells
// that nothing was done; a timeout, a broken connection, an answer that cannot be read and 5xx leave it open.
func outcome(err error) nodeipam.Outcome {
	if err == nil {
		return nodeipam.Done
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nodeipam.Unknown
	}
	switch code := status.Status().Code; {
	case code == http.StatusConflict:
		return nodeipam.Conflict
	case code == http.StatusNotFound:
		return nodeipam.NotFound
	case code == http.StatusUnprocessableEntity && names(status, "metadata.uid"):
		return nodeipam.Conflict // how a server refuses a PATCH that is meant for another object of the name
	case code == http.StatusRequestTimeout:
		return nodeipam.Unknown
	case code >= 400 && code < 500:
		return nodeipam.Refused
	}
	return nodeipam.Unknown
}

// names reports whether a refusal is about a field.
func names(status apierrors.APIStatus, field string) bool {
	if d := status.Status().Details; d != nil {
		for _, cause := range d.Causes {
			if cause.Field == field {
				return true
			}
		}
	}
	return false
}

// cloudOutcome is the same for a cloud.
func cloudOutcome(err error) nodeipam.Outcome {
	switch {
	case err == nil:
		return nodeipam.Done
	case errors.Is(err, ErrRefused):
		return nodeipam.Refused
	}
	return nodeipam.Unknown
}

// namespaceOf is the namespace that a refusal says is not there, empty where it says no such thing.
func namespaceOf(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusNotFound || status.Status().Details == nil || status.Status().Details.Kind != "namespaces" {
		return ""
	}
	return status.Status().Details.Name
}
