import Market
import NIOCore

/// The members that the head lines of a cluster's messages share.
struct ClusterHead {
    var epoch: UInt64?
    var frame: UInt64?
    var sequence: UInt64?
    var epochBefore: UInt64?
    var frameBefore: UInt64?
    var sequenceBefore: UInt64?
    /// The sender's wall clock, µs since 1970.
    var sent: Int64?
    var trades: UInt64?
    var type: String?
    var member: String?
    var isComplete: Bool?
    var instance: UInt64?
    var after: String?
    var upTo: String?
    /// Lists; `nil` if they are missing.
    var symbols: [String]?
    var full: [String]?
    var invalid: [String]?

    /// Reads one line; `nil` if it is no JSON object. Unknown members are ignored.
    init?(_ line: ByteBuffer) {
        var head = ClusterHead()
        let isWhole = line.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                var text: JSONString?
                if key.equals("epoch") { return reader.take(unsigned: &head.epoch) }
                if key.equals("frame") { return reader.take(unsigned: &head.frame) }
                if key.equals("seq") { return reader.take(unsigned: &head.sequence) }
                if key.equals("afterEpoch") { return reader.take(unsigned: &head.epochBefore) }
                if key.equals("afterFrame") { return reader.take(unsigned: &head.frameBefore) }
                if key.equals("afterSeq") { return reader.take(unsigned: &head.sequenceBefore) }
                if key.equals("sent") { return reader.take(integer: &head.sent) }
                if key.equals("trades") { return reader.take(unsigned: &head.trades) }
                if key.equals("complete") { return reader.take(bool: &head.isComplete) }
                if key.equals("instance") { return reader.take(unsigned: &head.instance) }
                if key.equals("type") {
                    guard reader.take(string: &text) else { return false }
                    head.type = text?.text(atMost: ClusterSubjects.longestName)
                    return true
                }
                if key.equals("member") { return Self.read(&head.member, &reader) }
                if key.equals("after") { return Self.read(&head.after, &reader) }
                if key.equals("upTo") { return Self.read(&head.upTo, &reader) }
                if key.equals("symbols") { return Self.read(&head.symbols, &reader) }
                if key.equals("full") { return Self.read(&head.full, &reader) }
                if key.equals("invalid") { return Self.read(&head.invalid, &reader) }
                return reader.skipValue()
            }
        }
        guard isWhole else { return nil }
        self = head
    }

    private init() {}

    private static func read(_ text: inout String?, _ reader: inout JSONReader) -> Bool {
        var value: JSONString?
        guard reader.take(string: &value) else { return false }
        text = value?.text
        return true
    }

    /// Reads the names of symbols.
    private static func read(_ names: inout [String]?, _ reader: inout JSONReader) -> Bool {
        names = nil
        guard case .array = reader.kind() else { return reader.skipValue() }
        names = reader.strings(atMost: SymbolTable.capacity)
        return names != nil
    }

    /// The place that the line names; `nil` if it names none, or one out of range.
    var position: ClusterPosition? { Self.position(self.epoch, self.frame, self.sequence) }

    /// The place that the line names as the one before; `nil` if it names none, or one out of range.
    var predecessor: ClusterPosition? { Self.position(self.epochBefore, self.frameBefore, self.sequenceBefore) }

    /// Returns a place; `nil` if a number is missing, or so large that sums could overflow.
    private static func position(_ epoch: UInt64?, _ frame: UInt64?, _ sequence: UInt64?) -> ClusterPosition? {
        guard let epoch, let frame, let sequence, epoch <= ClusterPosition.maximumEpoch, frame <= .max / 2,
            sequence <= .max / 2
        else { return nil }
        return ClusterPosition(epoch: epoch, frame: frame, sequence: sequence)
    }

    /// The sender's wall clock, ns since 1970; `nil` if it is missing or out of range.
    var sentTime: Int64? {
        self.sent.flatMap { $0 >= 0 && $0 <= StreamMessage.longestSpan / 1_000 ? $0 * 1_000 : nil }
    }
}

extension JSONWriter {
    mutating func position(_ position: ClusterPosition) {
        self.field("epoch", position.epoch)
        self.field("frame", position.frame)
        self.field("seq", position.sequence)
    }

    /// Writes the last position of the epoch before, if there is one.
    mutating func predecessor(_ predecessor: ClusterPosition?) {
        guard let predecessor else { return }
        self.field("afterEpoch", predecessor.epoch)
        self.field("afterFrame", predecessor.frame)
        self.field("afterSeq", predecessor.sequence)
    }
}
