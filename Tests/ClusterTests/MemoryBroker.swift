import NIOCore
import Wire

/// A broker in memory: the messages of each member reach all subscribers on one loop, in order.
final class MemoryBroker {
    private let loop: any EventLoop
    private var readers: [(subject: String, member: MemoryLink, read: (ByteBuffer, String?) -> Void)] = []
    private var answers: [String: EventLoopPromise<ByteBuffer>] = [:]
    private var requests = 0
    /// Whether a message to a subject is lost on the way.
    var loses: (_ subject: String, _ payload: ByteBuffer) -> Bool = { _, _ in false }

    struct NoAnswer: Error {}

    init(on loop: any EventLoop) { self.loop = loop }

    func link() -> MemoryLink { MemoryLink(self) }

    fileprivate func subscribe(_ member: MemoryLink, _ subject: String, _ read: @escaping (ByteBuffer, String?) -> Void)
    {
        self.readers.append((subject, member, read))
    }

    func publish(_ payload: ByteBuffer, to subject: String, reply: String?) {
        guard !self.loses(subject, payload) else { return }
        if let promise = self.answers.removeValue(forKey: subject) { return promise.succeed(payload) }
        for reader in self.readers where reader.member.isConnected && Self.matches(reader.subject, subject) {
            reader.read(payload, reply)
        }
    }

    fileprivate func request(
        _ payload: ByteBuffer,
        to subject: String,
        within limit: TimeAmount
    ) -> EventLoopFuture<ByteBuffer> {
        self.requests += 1
        let reply = "_INBOX.\(self.requests)"
        let promise = self.loop.makePromise(of: ByteBuffer.self)
        self.answers[reply] = promise
        // As on a network, the answer comes later, and the asker's own limit is over before the broker's.
        self.loop.assumeIsolated().execute {
            self.loop.assumeIsolated().scheduleTask(in: limit) {
                self.answers.removeValue(forKey: reply)?.fail(NoAnswer())
            }
            self.publish(payload, to: subject, reply: reply)
        }
        return promise.futureResult
    }

    private static func matches(_ pattern: String, _ subject: String) -> Bool {
        let wanted = pattern.split(separator: ".")
        let given = subject.split(separator: ".")
        return wanted.count == given.count && zip(wanted, given).allSatisfy { $0 == "*" || $0 == $1 }
    }
}

/// One member's connection to the broker.
final class MemoryLink: ClusterLink {
    private let broker: MemoryBroker
    var isConnected = true

    fileprivate init(_ broker: MemoryBroker) { self.broker = broker }

    var maximumPayload: Int? { self.isConnected ? 1 << 20 : nil }

    func publish(_ payload: ByteBuffer, to subject: String) -> Bool {
        guard self.isConnected else { return false }
        self.broker.publish(payload, to: subject, reply: nil)
        return true
    }

    func subscribe(to subject: String, _ reader: @escaping (ByteBuffer, String?) -> Void) {
        self.broker.subscribe(self, subject, reader)
    }

    func request(_ payload: ByteBuffer, to subject: String, within limit: TimeAmount) -> EventLoopFuture<ByteBuffer> {
        self.broker.request(payload, to: subject, within: limit)
    }
}
