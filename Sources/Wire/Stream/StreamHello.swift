package import Market

/// What a relay tells a client of `/v1/stream` when it comes.
package struct StreamHello: Sendable, Equatable {
    /// The protocol's name; a change that breaks a reader would get another one.
    package static let protocolName = "tickertape.v1"
    /// The name of the WebSocket subprotocol.
    package static let subprotocol = "tickertape.v1.json"
    /// What a relay calls itself in the answer that opens a WebSocket, in the header `Server`.
    package static let serverName = "tickertape"

    /// A symbol that the feed has.
    package struct Symbol: Sendable, Equatable {
        package var name: String
        /// The newest trade and the statistics; `nil` for a symbol that never traded.
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

    /// What a client may do and what is kept for it.
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
    /// The run of numbers; `nil` as long as it is not known.
    package var epoch: UInt64?
    /// The newest trade's number.
    package var newest: UInt64?
    /// The number of the oldest trade of this run that is kept for `since`.
    package var oldest: UInt64?
    /// The oldest trade of all that are kept, where that is one of an earlier run.
    package var earliest: TapePosition?
    /// How far `since` reaches back, at most.
    package var resumeTrades: Int
    package var resumeSeconds: Int
    package var limits: Limits
    /// Our wall clock, ns since 1970.
    package var time: Int64
    package var status: FeedStatus
    package var symbols: [Symbol]
    /// Where the replay stands, where it is one that tells.
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
