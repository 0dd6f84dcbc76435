import NATS
import NIOCore
import Wire

/// A broker in memory: the messages of each member reach all subscribers on one loop, in order.
final class MemoryBroker {
    typealias Reader = (_ payload: ByteBuffer, _ subject: String, _ reply: String?) -> Void

    private let loop: any EventLoop
    private var readers: [(subject: String, member: MemoryLink, read: Reader)] = []
    private var answers: [String: (member: MemoryLink, promise: EventLoopPromise<ByteBuffer>)] = [:]
    private var requests = 0
    /// Whether a message to a subject is lost on the way.
    var loses: (_ subject: String, _ payload: ByteBuffer) -> Bool = { _, _ in false }
    /// As a server's `max_payload`.
    var maximumPayload = 1 << 20

    init(on loop: any EventLoop) { self.loop = loop }

    func link() -> MemoryLink { MemoryLink(self) }

    fileprivate func subscribe(_ member: MemoryLink, _ subject: String, _ read: @escaping Reader) {
        self.readers.append((subject, member, read))
    }

    func publish(_ payload: ByteBuffer, to subject: String, reply: String?) {
        guard !self.loses(subject, payload) else { return }
        if let answer = self.answers.removeValue(forKey: subject) {
            guard answer.member.isConnected else { return answer.promise.fail(RequestFailure.connectionLost) }
            return answer.promise.succeed(payload)
        }
        let readers = self.readers.filter { $0.member.isConnected && Self.matches($0.subject, subject) }
        for reader in readers { reader.read(payload, subject, reply) }
        if readers.isEmpty, let reply, let answer = self.answers.removeValue(forKey: reply) {
            answer.promise.fail(RequestFailure.noResponders)
        }
    }

    fileprivate func request(
        _ payload: ByteBuffer,
        to subject: String,
        of member: MemoryLink,
        within limit: TimeAmount
    ) -> EventLoopFuture<ByteBuffer> {
        let promise = self.loop.makePromise(of: ByteBuffer.self)
        guard member.isConnected else {
            promise.fail(RequestFailure.notSent(.notConnected))
            return promise.futureResult
        }
        self.requests += 1
        let reply = "_INBOX.\(self.requests)"
        self.answers[reply] = (member, promise)
        // As on a network, the answer comes later, and the asker's own limit is over before the broker's.
        self.loop.assumeIsolated().execute {
            self.loop.assumeIsolated().scheduleTask(in: limit) {
                self.answers.removeValue(forKey: reply)?.promise.fail(RequestFailure.timedOut)
            }
            self.publish(payload, to: subject, reply: reply)
        }
        return promise.futureResult
    }

    /// Fails all requests without an answer.
    func stop() {
        for answer in self.answers.values { answer.promise.fail(RequestFailure.connectionLost) }
        self.answers = [:]
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

    var maximumPayload: Int? { self.isConnected ? self.broker.maximumPayload : nil }

    func publish(_ payload: ByteBuffer, to subject: String) -> Bool {
        guard self.isConnected, payload.readableBytes <= self.broker.maximumPayload else { return false }
        self.broker.publish(payload, to: subject, reply: nil)
        return true
    }

    func subscribe(to subject: String, _ reader: @escaping MemoryBroker.Reader) {
        self.broker.subscribe(self, subject, reader)
    }

    func request(_ payload: ByteBuffer, to subject: String, within limit: TimeAmount) -> EventLoopFuture<ByteBuffer> {
        self.broker.request(payload, to: subject, of: self, within: limit)
    }
}
