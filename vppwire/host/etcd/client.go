package etcd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Patience with etcd. requestTime is what etcd's own command line client has; probes are for connections that died
// without a word and for data that was lost behind a watch.
const (
	requestTime   = 5 * time.Second
	keepAlive     = 5 * time.Second
	keepAliveWait = 3 * time.Second
	probeInterval = 5 * time.Second
	retryFirst    = 200 * time.Millisecond
	retryMost     = 5 * time.Second
)

// DefaultPrefix is what all keys begin with where nobody says otherwise.
const DefaultPrefix = "/vppdrill/"

// below is what the keys of agents' records begin with behind the prefix, StorePrefix what they begin with in etcd
// where nothing else is said.
const (
	below       = "store/"
	StorePrefix = DefaultPrefix + below
)

// Config says which etcd, and where in it.
type Config struct {
	// Endpoints are URLs of members: http://127.0.0.1:2379.
	Endpoints []string
	// Prefix begins every key and ends with a slash; empty is DefaultPrefix.
	Prefix string
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// Client is a connection to etcd. Its methods may be called from any goroutine.
type Client struct {
	etcd   *clientv3.Client
	prefix string
	log    *slog.Logger
	end    context.CancelFunc
	ctx    context.Context
}

// Connect returns at once, whether or not etcd answers. A configuration that cannot be is an error.
func Connect(cfg Config) (*Client, error) { return connect(cfg, clientv3.Config{}) }

// connect is Connect with further choices of etcd's client.
func connect(cfg Config, etcd clientv3.Config) (*Client, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = DefaultPrefix
	}
	if !strings.HasSuffix(cfg.Prefix, "/") {
		return nil, fmt.Errorf("etcd: prefix %q does not end with a slash", cfg.Prefix)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, end := context.WithCancel(context.Background())
	etcd.Endpoints, etcd.Context, etcd.Logger = cfg.Endpoints, ctx, zap.NewNop()
	etcd.DialKeepAliveTime, etcd.DialKeepAliveTimeout = keepAlive, keepAliveWait
	c, err := clientv3.New(etcd)
	if err != nil && strings.Contains(strings.Join(cfg.Endpoints, ""), "@") {
		end()
		return nil, errors.New("etcd: an endpoint, which is not repeated as it names a user, cannot be used: want URLs such as http://127.0.0.1:2379")
	}
	if err != nil {
		end()
		return nil, fmt.Errorf("etcd %s: %w", strings.Join(cfg.Endpoints, ","), err)
	}
	return &Client{etcd: c, prefix: cfg.Prefix, log: cfg.Log, ctx: ctx, end: end}, nil
}

// Close ends every request and watch.
func (c *Client) Close() error {
	c.end()
	err := c.etcd.Close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// identityKey holds what the data is known by.
func (c *Client) identityKey() string { return c.prefix + "identity" }

// identity makes a number of the data's: another one after every loss. 0 where the key is missing.
func identity(cluster uint64, value []byte) uint64 {
	if len(value) == 0 {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%x %s", cluster, value) // a hash does not fail
	return max(1, h.Sum64())
}

// identify writes the identity unless it is there.
func (c *Client) identify(ctx context.Context) error {
	key := c.identityKey()
	_, err := c.etcd.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).Then(clientv3.OpPut(key, rand.Text())).Commit()
	return err
}

// answer is what a transaction came to.
type answer struct {
	*clientv3.TxnResponse
	store uint64
}

// commit performs a transaction on data whose identity is known, and returns the answers to the operations given.
func (c *Client) commit(ctx context.Context, when []clientv3.Cmp, then, otherwise []clientv3.Op) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	key := c.identityKey()
	who := clientv3.OpGet(key)
	when = append([]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), ">", 0)}, when...)
	for {
		r, err := c.etcd.Txn(ctx).If(when...).Then(append([]clientv3.Op{who}, then...)...).
			Else(append([]clientv3.Op{who}, otherwise...)...).Commit()
		if err != nil {
			return answer{}, err
		}
		if kvs := r.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
			r.Responses = r.Responses[1:]
			return answer{r, identity(r.Header.ClusterId, kvs[0].Value)}, nil
		}
		if err := c.identify(ctx); err != nil { // nothing was written: the condition did not hold
			return answer{}, err
		}
	}
}
