package agent

import "strconv"

// The canonical line of each effect.

// AppendText implements Effect.
func (e Persist) AppendText(b []byte) []byte {
	l := line(b).word("persist").uint("seq", e.Seq)
	if e.GivenUp > 0 {
		l = l.uint("given-up", e.GivenUp)
	}
	l = l.flag("replace", e.Replace).uint("records", uint64(len(e.Records)))
	for i := range e.Records {
		l = append(l, " | "...)
		l = e.Records[i].AppendText(l)
	}
	return l
}

// AppendText implements Effect.
func (e StoreRequest) AppendText(b []byte) []byte {
	l := line(b).word(e.Op.String()).uint("id", e.ID).word(e.Key)
	if e.Op == StoreUpdate || e.Op == StoreDelete || e.Op == StoreWatch {
		l = l.int("revision", e.Revision)
	}
	if e.Value == "" {
		return l
	}
	l = append(l, ' ')
	return append(l, e.Value...)
}

// AppendText implements Effect.
func (e CallDataplane) AppendText(b []byte) []byte {
	return e.Call.AppendText(line(b).word("call").space())
}

// AppendText implements Effect.
func (e Answer) AppendText(b []byte) []byte {
	l := line(b).word("answer").uint("request", e.Request)
	if e.Code != CodeOK {
		l = strconv.AppendUint(l.key("code"), uint64(e.Code), 10)
		l = l.flag("exhausted", e.Exhausted)
		return strconv.AppendQuote(l.space(), e.Message)
	}
	if r := e.Result; r.Addr.IsValid() {
		l = l.text("if", r.IfName).prefix("addr", r.Addr).addr("gateway", r.Gateway).prefix("second", r.Second).addr("second-gateway", r.SecondGateway).key("mac")
		l = r.MAC.AppendText(l)
		l = l.uint("mtu", uint64(r.MTU))
	}
	return l
}

// AppendText implements Effect.
func (e WakeAt) AppendText(b []byte) []byte {
	if e.At.IsZero() {
		return line(b).word("wake").word("never")
	}
	return line(b).word("wake").time("at", e.At)
}

// AppendText implements Effect.
func (e Hook) AppendText(b []byte) []byte {
	when := "after"
	if e.Before {
		when = "before"
	}
	return line(b).word("hook").uint("id", e.ID).word(when).sandbox(e.Sandbox).addr("addr", e.Addr).addr("second", e.Second).text("if", e.Interface)
}

// AppendText implements Effect.
func (e Log) AppendText(b []byte) []byte {
	return strconv.AppendQuote(line(b).word("log").int("level", int64(e.Level)).text("reason", e.Reason).text("ns", e.Namespace).text("pod", e.PodName).space(), e.Message)
}

// AppendText implements Effect.
func (ListNodes) AppendText(b []byte) []byte { return append(b, "list-nodes"...) }

// AppendText implements Effect.
func (e NodeAddress) AppendText(b []byte) []byte {
	return line(b).word("node-address").prefix("addr", e.Addr)
}

// AppendText implements Effect.
func (e ChangeLinux) AppendText(b []byte) []byte {
	return e.Undo.AppendText(line(b).word("change-linux").uint("seq", e.Seq).word("undo").space())
}

// AppendText implements Effect: "health-checks default/web=31000:2".
func (e HealthChecks) AppendText(b []byte) []byte {
	l := line(b).word("health-checks")
	for _, h := range e.List {
		l = strconv.AppendUint(l.key(h.Name.String()), uint64(h.Port), 10)
		l = strconv.AppendInt(append(l, ':'), int64(h.Local), 10)
	}
	return l
}

// AppendText implements Effect.
func (NICReturned) AppendText(b []byte) []byte { return append(b, "nic-returned"...) }

func (l line) space() line { return append(l, ' ') }

func (Persist) effect()       {}
func (StoreRequest) effect()  {}
func (CallDataplane) effect() {}
func (Answer) effect()        {}
func (WakeAt) effect()        {}
func (Hook) effect()          {}
func (Log) effect()           {}
func (ListNodes) effect()     {}
func (NodeAddress) effect()   {}
func (HealthChecks) effect()  {}
func (ChangeLinux) effect()   {}
func (NICReturned) effect()   {}
