import NIOCore
import WebSocket

/// The requests of one client, and the count of the answer bytes that wait for it in this program.
///
/// This bounds the answers to a client that reads nothing. From ``maximumOwedBytes`` on, its requests wait here and
/// nothing more is read from it, until some of the answers have left.
struct RequestQueue {
    /// The most bytes of answers that may wait when a request is answered. They are a part of the 16 KiB that input may
    /// make a connection owe; TLS and the pongs have the rest.
    static let maximumOwedBytes = 4 << 10

    /// The requests that came in one read of the socket; those before `first` have been taken.
    private var requests: [WebSocketMessage] = []
    private var first = 0
    /// The positions of the answers among all bytes written to the client.
    private var answers: [Range<Int>] = []
    /// Whether a read was requested while requests wait.
    var isReadHeld = false

    init() {}

    var isEmpty: Bool { self.first == self.requests.count }

    mutating func append(_ request: WebSocketMessage) { self.requests.append(request) }

    mutating func popFirst() -> WebSocketMessage? {
        guard !self.isEmpty else { return nil }
        defer {
            self.first += 1
            if self.isEmpty {
                self.requests = []
                self.first = 0
            }
        }
        return self.requests[self.first]
    }

    mutating func removeAll() {
        self.requests = []
        self.first = 0
    }

    /// Notes the position of a request's answer among all bytes written.
    mutating func answered(_ places: Range<Int>) {
        if !places.isEmpty { self.answers.append(places) }
    }

    /// Returns how many bytes of answers wait.
    ///
    /// - Parameter left: how many of all bytes written have left; called only if there are answers.
    mutating func owedBytes(left: () -> Int) -> Int {
        guard !self.answers.isEmpty else { return 0 }
        let left = left()
        self.answers.removeAll { $0.upperBound <= left }
        return self.answers.reduce(0) { $0 + $1.upperBound - max($1.lowerBound, left) }
    }
}
