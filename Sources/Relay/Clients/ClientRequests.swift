import NIOCore
import WebSocket

/// The requests of one client, answered while few of its answers wait; otherwise nothing more is read from it.
final class ClientRequests {
    private unowned let output: ClientOutput
    private var queue = RequestQueue()
    /// Whether a request is being answered.
    private(set) var isAnswering = false
    /// The bytes written during the present answer that are no answer; empty if there are none.
    private var trades = 0..<0

    init(of output: ClientOutput) { self.output = output }

    /// Takes a request, and answers it unless it has to wait.
    func received(_ request: WebSocketMessage) {
        self.queue.append(request)
        self.take()
    }

    /// Returns whether the socket may be read now; otherwise it is read when all requests are answered.
    func mayRead() -> Bool {
        if self.queue.isEmpty { return true }
        self.queue.isReadHeld = true
        return false
    }

    /// Answers the requests until too many bytes of answers wait. A session that has held back answers calls it when
    /// some of them were written.
    func take() {
        // A request may end a catch-up, which calls this again.
        guard !self.isAnswering else { return }
        self.isAnswering = true
        while self.output.isOpen, let session = self.output.session {
            guard self.mayAnswer else {
                self.output.pace.awaitDrain()
                break
            }
            guard session.heldAnswerBytes < RequestQueue.maximumOwedBytes else { break }
            let before = self.output.pace.writtenBytes
            self.trades = before..<before
            if !session.takeDeferred() {
                guard let request = self.queue.popFirst() else { break }
                switch request {
                case .text(let text): session.received(text)
                case .binary(let bytes): session.received(binary: bytes)
                }
            }
            self.queue.answered(before..<self.trades.lowerBound)
            self.queue.answered(self.trades.upperBound..<self.output.pace.writtenBytes)
        }
        // Before the read, which may bring a request at once.
        self.isAnswering = false
        if self.queue.isEmpty { self.goOnReading() }
    }

    /// Notes trades that were written while a request is answered, once for each request. They are no answer: no
    /// request waits until the client has read them.
    func wroteTrades(_ bytes: Range<Int>) { if self.isAnswering { self.trades = bytes } }

    /// Drops all requests: the client is being closed.
    func removeAll() {
        self.queue.removeAll()
        // The client's close frame may follow requests that were held back.
        self.goOnReading()
    }

    private var mayAnswer: Bool {
        if self.owedBytes < RequestQueue.maximumOwedBytes { return true }
        // A flush may let them leave at once.
        self.output.push()
        return self.owedBytes < RequestQueue.maximumOwedBytes
    }

    private var owedBytes: Int { self.queue.owedBytes { self.output.sentBytes } }

    private func goOnReading() {
        guard self.queue.isReadHeld else { return }
        self.queue.isReadHeld = false
        self.output.read()
    }
}
