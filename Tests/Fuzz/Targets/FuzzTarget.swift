import Market

/// A part of the program that takes bytes from strangers, with the rules that must hold whatever they are.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A text frame of the service: the template against the general parser, and what they accept written and read again.
    case finnhub
    /// The bytes behind the service's 101: a WebSocket client, fed whole and in pieces.
    case client
    /// The service's answer to the upgrade request, fed whole and in pieces.
    case upgrade
    /// A recording, fed whole and in pieces.
    case recording
    /// A compressed recording: its frames, its index and its table.
    case packed
    /// What a relay and its clients say to one another on `/v1/stream`.
    case stream
    /// What a relay sends on `/v1/stream` over several connections: what its reader makes of it.
    case reading
    /// Requests to a replay, over HTTP and on `/v1/stream`.
    case replay

    /// Feeds one input; throws what is broken.
    ///
    /// - Returns: whether it brought what good ones bring: a trade, a message, an open connection, a recorded frame. A run in
    ///   which hardly any does has checked no more than the doors.
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
        }
    }

    /// Inputs as they come in real life, which the others are made of.
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
        }
    }

    /// Pieces that inputs of this kind are made of.
    package var words: [[UInt8]] {
        switch self {
        case .finnhub, .recording, .packed, .stream: Mutator.jsonWords
        case .client: ClientFuzz.words
        case .upgrade: UpgradeFuzz.words
        case .reading: ReadingFuzz.words
        case .replay: ReplayFuzz.words
        }
    }

    /// The generator of damaged inputs of this kind: the same ones for the same seed.
    package func inputs(seed: UInt64) -> Mutator { Mutator(seeds: self.seeds, words: self.words, seed: seed) }
}

/// A rule that an input broke.
package struct FuzzFinding: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Throws unless the rule holds.
    static func require(_ rule: @autoclosure () -> Bool, _ words: @autoclosure () -> String) throws(FuzzFinding) {
        if !rule() { throw FuzzFinding(words()) }
    }
}

extension [UInt8] {
    /// Cuts into pieces whose lengths the bytes themselves choose, so that an input is all that a run depends on.
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
