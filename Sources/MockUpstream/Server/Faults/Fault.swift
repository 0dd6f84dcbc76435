/// A configured fault of a mock server: its kind, its connections, and its time.
///
/// ``init(_:)`` parses its text form, which `docs/stand-in.md` describes.
package struct Fault: Sendable, Equatable {
    /// The stage at which a connection hangs or is cut.
    package enum Stage: String, Sendable, Equatable, CaseIterable {
        /// TCP is accepted.
        case tcp
        /// The TLS handshake has begun.
        case tls
        /// The request for a WebSocket has arrived.
        case upgrade
        /// The WebSocket is open.
        case data
    }

    /// An HTTP answer that refuses a request for a WebSocket.
    package struct Refusal: Sendable, Equatable {
        /// The HTTP status code.
        package var status: Int
        package var headers: [Header] = []
        /// `nil` stands for the upstream's own body for the status.
        package var body: String?

        package struct Header: Sendable, Equatable {
            package var name: String
            package var value: String
        }
    }

    package enum Kind: Sendable, Equatable {
        /// Answers the request with something other than a WebSocket.
        case refuse(Refusal)
        /// Proceeds to the stage, then sends nothing more.
        case hang(Stage)
        /// Ends TCP at the stage: with a FIN, or with a reset.
        case cut(Stage, isReset: Bool)
        /// Ends TCP in the middle of a frame.
        case cutFrame
        /// Sends and receives nothing any more, and never ends TCP, as after a power failure.
        case halfOpen
        case close(code: UInt16, reason: String)
        /// Withholds the trades of one symbol, or all trades; pings go on.
        case stall(symbol: String?)
        /// Sends a frame of trades `copies` times, with that probability.
        case duplicate(Double, copies: Int)
        /// Sends a frame of trades after the next one, with that probability.
        case reorder(Double)
        /// Leaves out a frame of trades for good, with that probability.
        case withhold(Double)
        /// Sends a frame of trades after that many later ones, with that probability.
        case late(Double, frames: Int)
        /// Sends an invalid message before a frame of trades, with that probability.
        case garbage(Double)
        /// Closes the connection at an age, as a service with a longest life of connections does; `announced` is how long
        /// before that the upstream announces it, if it has an announcement. Both in ns.
        case rotation(after: Int64, announced: Int64?)
        /// Sends bytes that are not a WebSocket frame.
        case brokenFrame
        /// Sends a message of that size.
        case huge(bytes: Int)
        /// Sends an error of the service.
        case error(String)
        /// Limits the rate of the connection.
        case slow(bytesPerSecond: Int)
        /// Changes the answers of a venue's REST service for trades, with that probability.
        case rest(RestFault, share: Double)
    }

    /// A range of time in nanoseconds after the WebSocket opened; both ends are equal for a moment.
    package struct Window: Sendable, Equatable {
        package var from: Int64
        package var to: Int64
    }

    package var kind: Kind
    /// The numbers of the connections that have it, counted from 1; for ``Kind/rest(_:share:)`` the numbers of the requests.
    package var connections: ClosedRange<Int>
    /// The time of the fault; `nil` means from the beginning to the end of the connection. For ``Kind/rest(_:share:)`` it
    /// counts from the start of the server.
    package var window: Window?

    package init(_ kind: Kind, connections: ClosedRange<Int> = 1...Int.max, window: Window? = nil) {
        self.kind = kind
        self.connections = connections
        self.window = window
    }
}

extension Fault {
    /// The effect of a fault on a connection.
    enum Nature: Sendable, Equatable {
        /// It decides how the connection opens, and takes no time.
        case opening
        /// It happens once, at a moment; with a range, at a random moment in it.
        case event
        /// It holds from a moment on, during a range, or always.
        case condition
        /// It concerns no connection, but requests to a REST service.
        case service
    }

    var nature: Nature {
        switch self.kind {
        case .refuse: .opening
        case .hang(let stage): stage == .data ? .event : .opening
        case .cut(let stage, _): stage == .data ? .event : .opening
        case .cutFrame, .halfOpen, .close, .rotation, .brokenFrame, .huge, .error: .event
        case .stall, .duplicate, .reorder, .withhold, .late, .garbage, .slow: .condition
        case .rest: .service
        }
    }

    /// Whether it can only happen in a TLS handshake.
    package var needsTLS: Bool {
        switch self.kind {
        case .hang(.tls), .cut(.tls, _): true
        case .refuse, .hang, .cut, .cutFrame, .halfOpen, .close, .rotation, .stall, .duplicate, .reorder, .withhold,
            .late, .garbage, .brokenFrame, .huge, .error, .slow, .rest:
            false
        }
    }

    /// Returns whether a condition holds at `elapsed` nanoseconds after the WebSocket opened.
    ///
    /// A condition with a moment holds from that moment on.
    func holds(at elapsed: Int64) -> Bool {
        guard let window else { return true }
        return elapsed >= window.from && (window.to == window.from || elapsed < window.to)
    }
}
