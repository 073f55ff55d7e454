-- The head of the report, and how long its lists are.
r.node, r.told_epoch = text(), text()
local whole_report, nodes, cells, sessions, revoked, told_minute, told_admitted, told_given, left, preferred
r.seq, r.told_now, r.slack, whole_report, nodes, cells, sessions, revoked, told_minute, told_admitted, told_given, left, preferred =
  struct.unpack('>ddddddddddddd', text())

-- A room whose memory is gone in part begins anew like one that has none.
r.epoch = r.last and call('GET', EPOCH)

-- What is kept of each node: the number of its last report that was counted, -1 if
-- none was, and when it last reported.
local NODE = '>dd'
local known_node = call('HGET', NODES, r.node)
r.known_seq = known_node and struct.unpack(NODE, known_node)
if r.known_seq == -1 then r.known_seq = nil end
