package import Market

/// The first message of a relay to a client of `/v1/stream`.
package struct StreamHello: Sendable, Equatable {
    /// The protocol's name; an incompatible change would get another one.
    package static let protocolName = "tickertape.v1"
    /// The name of the WebSocket subprotocol.
    package static let subprotocol = "tickertape.v1.json"
    /// The relay's name in the `Server` header of the response that opens a WebSocket.
    package static let serverName = "tickertape"

    /// A symbol of the feed.
    package struct Symbol: Sendable, Equatable {
        package var name: String
        /// The newest trade and the statistics; `nil` for a symbol that has never traded.
        package var summary: SymbolSummary?
        /// The time since the newest trade arrived, ns.
        package var age: Int64?
        /// ``SymbolStatus/word``.
        package var state: String

        package init(name: String, summary: SymbolSummary?, age: Int64?, state: String) {
            self.name = name
            self.summary = summary
            self.age = age
            self.state = state
        }
    }

    /// The limits for a client and its queue.
    package struct Limits: Sendable, Equatable {
        package var symbols = 0
        package var messageBytes = 0
        package var waitingBytes = 0
        package var waitingMessages = 0
        package var requestBurst = 0
        package var requestsPerSecond = 0

        package init() {}
    }

    /// The program's version.
    package var version: String
    /// The run of numbers; `nil` while it is not known.
    package var epoch: UInt64?
    /// The newest trade's number.
    package var newest: UInt64?
    /// The number of the oldest trade of this run that is kept for `since`.
    package var oldest: UInt64?
    /// The oldest trade kept of all runs, if it is of an earlier run.
    package var earliest: TapePosition?
    /// The largest number of trades and of seconds that `since` reaches back.
    package var resumeTrades: Int
    package var resumeSeconds: Int
    package var limits: Limits
    /// Our wall clock, ns since 1970.
    package var time: Int64
    package var status: FeedStatus
    package var symbols: [Symbol]
    /// The position of the replay, if it reports one.
    package var replay: ReplayPosition?

    package init(
        version: String,
        epoch: UInt64?,
        newest: UInt64?,
        oldest: UInt64?,
        resumeTrades: Int,
        resumeSeconds: Int,
        limits: Limits,
        time: Int64,
        status: FeedStatus,
        symbols: [Symbol]
    ) {
        self.version = version
        self.epoch = epoch
        self.newest = newest
        self.oldest = oldest
        self.resumeTrades = resumeTrades
        self.resumeSeconds = resumeSeconds
        self.limits = limits
        self.time = time
        self.status = status
        self.symbols = symbols
    }
}
