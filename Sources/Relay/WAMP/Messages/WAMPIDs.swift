/// The source of WAMP's identifiers of global scope: random ones (WAMP, 2.1.2).
struct WAMPIDs {
    /// The identifiers that every client can hold exactly.
    static let range: ClosedRange<UInt64> = 1...(1 << 53)

    private var generator: any RandomNumberGenerator

    init(_ generator: any RandomNumberGenerator) { self.generator = generator }

    mutating func next() -> UInt64 { UInt64.random(in: Self.range, using: &self.generator) }

    /// Returns an identifier for which `isTaken` is false.
    mutating func next(unless isTaken: (UInt64) -> Bool) -> UInt64 {
        while true {
            let id = self.next()
            if !isTaken(id) { return id }
        }
    }
}
