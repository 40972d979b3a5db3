package kube

import (
	"context"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// ownNode is the Node object of a program's own node.
type ownNode struct {
	client  kubernetes.Interface
	name    string
	timeout time.Duration
	log     *slog.Logger
}

// find asks for its UID, empty where there is none, until that is known; false when ctx has ended.
func (n ownNode) find(ctx context.Context) (uid string, ok bool) {
	for {
		uid, err := n.uid(ctx)
		if err == nil {
			return uid, true
		}
		n.log.Warn("the node's own Node cannot be read", "node", n.name, "error", err)
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(operatorPause):
		}
	}
}

func (n ownNode) uid(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	list, err := n.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", n.name).String()})
	if err != nil || len(list.Items) == 0 {
		return "", err
	}
	return string(list.Items[0].UID), nil
}
