import Market

/// A part of the program that reads untrusted bytes, with the rules that hold for any input.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A text frame of the service: the template and the general parser must agree, and accepted trades must survive
    /// writing and reading.
    case finnhub
    /// The bytes after the service's 101: a WebSocket client, fed whole and in pieces.
    case client
    /// The service's answer to the upgrade request, fed whole and in pieces.
    case upgrade
    /// A recording, fed whole and in pieces.
    case recording
    /// A compressed recording: its frames, its index and its table.
    case packed
    /// The messages of a relay and its clients on `/v1/stream`, in both directions.
    case stream
    /// A relay's messages on `/v1/stream` over several connections, and the reader's state.
    case reading
    /// Requests to a replay, over HTTP and on `/v1/stream`.
    case replay
    /// Messages of WAMP in all serialisations: the decoders and the encoders, and a session.
    case wamp
    /// The bytes of a client of plain lines, fed whole and in pieces.
    case lines
    /// The submissions to a room.
    case room
    /// A text frame of a venue's own feed, read as each venue's: the template and the general parser must agree, and a
    /// renewed table of symbols must not confuse names.
    case venue
    /// An exchange with a venue's REST service: it must be read as a general JSON parser reads it.
    case rest
    /// The bytes of a NATS server, fed whole and in pieces: the parser, and a client's machine behind it.
    case nats

    /// Feeds one input, and throws the violated rule.
    ///
    /// - Returns: whether the input had a result of valid input: a trade, a message, an open connection, a recorded
    ///   frame. A run with hardly any such result has tested only the first checks.
    @discardableResult
    package func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        switch self {
        case .finnhub: try FinnhubFuzz.check(input)
        case .client: try ClientFuzz.check(input)
        case .upgrade: try UpgradeFuzz.check(input)
        case .recording: try RecordingFuzz.check(input)
        case .packed: try PackedFuzz.check(input)
        case .stream: try StreamFuzz.check(input)
        case .reading: try ReadingFuzz.check(input)
        case .replay: try ReplayFuzz.check(input)
        case .wamp: try WAMPFuzz.check(input)
        case .lines: try LineFuzz.check(input)
        case .room: try RoomFuzz.check(input)
        case .venue: try VenueFuzz.check(input)
        case .rest: try RestFuzz.check(input)
        case .nats: try NATSFuzz.check(input)
        }
    }

    /// Realistic inputs, from which the others are made.
    package var seeds: [[UInt8]] {
        switch self {
        case .finnhub: FinnhubSeeds.frames.map { Array($0.utf8) }
        case .client: ClientFuzz.seeds
        case .upgrade: UpgradeFuzz.seeds
        case .recording: RecordingFuzz.seeds
        case .packed: PackedFuzz.seeds
        case .stream: StreamFuzz.seeds
        case .reading: ReadingFuzz.seeds
        case .replay: ReplayFuzz.seeds
        case .wamp: WAMPFuzz.seeds
        case .lines: LineFuzz.seeds
        case .room: RoomFuzz.seeds
        case .venue: VenueSeeds.frames.map { Array($0.utf8) }
        case .rest: RestFuzz.seeds
        case .nats: NATSFuzz.seeds
        }
    }

    /// Fragments for inputs of this kind.
    package var words: [[UInt8]] {
        switch self {
        case .finnhub, .recording, .packed, .stream: Mutator.jsonWords
        case .client: ClientFuzz.words
        case .upgrade: UpgradeFuzz.words
        case .reading: ReadingFuzz.words
        case .replay: ReplayFuzz.words
        case .wamp: WAMPFuzz.words
        case .lines: LineFuzz.words
        case .room: RoomFuzz.words
        case .venue: Mutator.jsonWords + VenueFuzz.words
        case .rest: Mutator.jsonWords + RestFuzz.words
        case .nats: Mutator.jsonWords + NATSFuzz.words
        }
    }

    /// Returns the generator of damaged inputs; the same seed makes the same inputs.
    package func inputs(seed: UInt64) -> Mutator { Mutator(seeds: self.seeds, words: self.words, seed: seed) }
}

/// A rule that an input violated.
package struct FuzzFinding: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Throws unless the rule holds.
    static func require(_ rule: @autoclosure () -> Bool, _ words: @autoclosure () -> String) throws(FuzzFinding) {
        if !rule() { throw FuzzFinding(words()) }
    }
}

extension [UInt8] {
    /// Cuts the bytes into pieces whose lengths depend on the bytes only, so that the input alone determines a run.
    var pieces: [[UInt8]] {
        var chance = SeededGenerator(
            seed: self.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        )
        let longest = chance.next() % 8 == 0 ? 1 : Int(chance.next() % 40) + 1
        var pieces: [[UInt8]] = []
        var start = 0
        while start < self.count {
            let end = Swift.min(self.count, start + Int.random(in: 1...longest, using: &chance))
            pieces.append(Array(self[start..<end]))
            start = end
        }
        return pieces
    }
}
