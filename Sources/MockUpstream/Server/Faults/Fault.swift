/// A fault that a stand-in is told to have: what goes wrong, on which connections, and when.
///
/// Its text form is read by ``init(_:)`` and described in `docs/stand-in.md`.
package struct Fault: Sendable, Equatable {
    /// How far a connection comes before it hangs or is cut.
    package enum Stage: String, Sendable, Equatable, CaseIterable {
        /// TCP is accepted.
        case tcp
        /// The TLS handshake is begun.
        case tls
        /// The request for a WebSocket has come.
        case upgrade
        /// The WebSocket is open.
        case data
    }

    /// The answer to a request for a WebSocket that is no WebSocket.
    package struct Refusal: Sendable, Equatable {
        /// HTTP's status code.
        package var status: Int
        package var headers: [Header] = []
        package var body: String

        package struct Header: Sendable, Equatable {
            package var name: String
            package var value: String
        }
    }

    package enum Kind: Sendable, Equatable {
        /// Answers the request with something else than a WebSocket.
        case refuse(Refusal)
        /// Comes as far as the stage, then says nothing more.
        case hang(Stage)
        /// Ends TCP at the stage: with a FIN, or with a reset.
        case cut(Stage, isReset: Bool)
        /// Ends TCP in the middle of a frame.
        case cutFrame
        /// Never sends nor takes anything any more, and never ends TCP: what a machine leaves that lost its power.
        case halfOpen
        case close(code: UInt16, reason: String)
        /// Withholds the trades of one symbol, or all trades; pings go on.
        case stall(symbol: String?)
        /// Sends a frame of trades `copies` times, with that probability.
        case duplicate(Double, copies: Int)
        /// Sends a frame of trades behind the next one, with that probability.
        case reorder(Double)
        /// Sends a text that is no message of the service before a frame of trades, with that probability.
        case garbage(Double)
        /// Sends bytes that are no WebSocket frame.
        case brokenFrame
        /// Sends a message of so many bytes.
        case huge(bytes: Int)
        /// Sends an error of the service.
        case error(String)
        /// Carries at most so many bytes a second.
        case slow(bytesPerSecond: Int)
    }

    /// From when to when, in nanoseconds after the WebSocket opened; equal where it is a moment.
    package struct Window: Sendable, Equatable {
        package var from: Int64
        package var to: Int64
    }

    package var kind: Kind
    /// The numbers of the connections that have it, counted from 1.
    package var connections: ClosedRange<Int>
    /// When; `nil` is as soon as can be, and for as long as the connection lives.
    package var window: Window?

    package init(_ kind: Kind, connections: ClosedRange<Int> = 1...Int.max, window: Window? = nil) {
        self.kind = kind
        self.connections = connections
        self.window = window
    }
}

extension Fault {
    /// What a fault is to a connection.
    enum Nature: Sendable, Equatable {
        /// It decides how the connection opens, and has no time.
        case opening
        /// It happens once, at a moment; within a window, at a moment that chance picks.
        case event
        /// It holds from a moment on, within a window, or always.
        case condition
    }

    var nature: Nature {
        switch self.kind {
        case .refuse: .opening
        case .hang(let stage): stage == .data ? .event : .opening
        case .cut(let stage, _): stage == .data ? .event : .opening
        case .cutFrame, .halfOpen, .close, .brokenFrame, .huge, .error: .event
        case .stall, .duplicate, .reorder, .garbage, .slow: .condition
        }
    }

    /// Whether it needs a TLS handshake to happen in.
    package var needsTLS: Bool {
        switch self.kind {
        case .hang(.tls), .cut(.tls, _): true
        case .refuse, .hang, .cut, .cutFrame, .halfOpen, .close, .stall, .duplicate, .reorder, .garbage, .brokenFrame,
            .huge, .error, .slow:
            false
        }
    }

    /// Whether it holds at `elapsed` nanoseconds after the WebSocket opened; for conditions.
    ///
    /// A condition with a moment holds from that moment on.
    func holds(at elapsed: Int64) -> Bool {
        guard let window else { return true }
        return elapsed >= window.from && (window.to == window.from || elapsed < window.to)
    }
}
