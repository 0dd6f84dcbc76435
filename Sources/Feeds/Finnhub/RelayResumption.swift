import NIOCore
import Wire

/// The position of this program in the frames of another program's relay, across its connections, so that it resumes
/// after a break.
///
/// The positions are those of the relay's tape. This program's own tape numbers the same trades anew.
final class RelayResumption {
    /// The position of the newest frame, or that of the relay when it was reached; `nil` if it sends no positions.
    private(set) var position: TapePosition?
    /// The symbols whose frames came on the connections so far.
    private var symbols: Set<String> = []
    private var request: FinnhubRequest?

    /// Whether the relay sends positions on the present connection, and its gaps between the frames.
    private(set) var hasPositions = false

    /// Whether the relay still sends the frames that this program missed; its next position ends them.
    private var isCatchingUp = false

    /// Whether the relay can be asked for the frames that follow.
    var canResume: Bool { self.position != nil && !self.symbols.isEmpty }

    /// Prepares the request for a new connection; returns whether there is one.
    ///
    /// - Parameter wanted: the symbols that are wanted now.
    func connectionOpened(wanted: [String]) -> Bool {
        self.hasPositions = false
        self.isCatchingUp = false
        self.symbols.formIntersection(wanted)
        self.request = self.symbols.isEmpty ? nil : self.position.map { .resume(self.symbols.sorted(), since: $0) }
        return self.request != nil
    }

    /// Removes and returns the request that must precede all others on the new connection.
    func takeRequest() -> FinnhubRequest? {
        defer { self.request = nil }
        return self.request
    }

    /// Reads a message of the relay, and notes its position; `nil` if it is one of Finnhub's protocol.
    func read(_ text: ByteBuffer) -> NumberedMessage? {
        let message = NumberedMessage.parse(text)
        if message != nil { self.hasPositions = true }
        switch message {
        case .frame(_, let position): self.position = position
        case .position(let position):
            // Before a resumption, the newest frame that came is older than the relay's position.
            if self.isCatchingUp || self.symbols.isEmpty || self.position == nil { self.position = position }
            self.isCatchingUp = false
        case .resumed: self.isCatchingUp = true
        case .gap, nil: break
        }
        return message
    }

    /// Notes which symbols were requested on a connection that has ended.
    func connectionEnded(subscribed: [String]) { self.symbols.formUnion(subscribed) }
}
