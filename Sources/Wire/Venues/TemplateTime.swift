import Market

/// The parser of times in exactly the form `2026-08-25T03:35:57.198335Z`, which Coinbase and Kraken send. It remembers
/// the newest date, since all trades of a day share it.
struct TemplateTime: Sendable {
    /// The length of the text.
    static let length = 27

    /// The first eight and the last eight bytes of the newest date with its `T`, and the start of that day. They
    /// overlap, so no text has the words with which they begin.
    private var head = UInt64.max
    private var tail: UInt64 = 0
    private var start: Int64 = 0

    /// Reads a time and moves past it; returns ns since 1970, or `nil` for anything else. It reads 27 bytes.
    @inline(__always)
    mutating func parse(_ here: inout UnsafeRawPointer) -> Int64? {
        guard here.word() == self.head && here.word(3) == self.tail || self.takeDate(here) else { return nil }
        let clock = here.word(11) ^ Self.clock
        let micros = here.word(19) ^ Self.micros
        guard
            TemplateNumber.others(clock) | TemplateNumber.others(micros) == 0,
            clock & Self.colons | micros & Self.ends == 0
        else { return nil }
        let pairs = clock &* 10 &+ clock >> 8
        let (hour, minute, second) = (pairs & 0xFF, pairs >> 24 & 0xFF, clock >> 48 & 0xFF)
        let seconds = second &* 10 &+ clock >> 56
        guard hour < 24, minute < 60, seconds < 60 else { return nil }
        let sinceMidnight = Int64(truncatingIfNeeded: (hour &* 60 &+ minute) &* 60 &+ seconds) &* 1_000_000_000
        // The six digits, shifted so that they are the last of eight.
        let fraction = Int64(truncatingIfNeeded: TemplateNumber.eightDigits(micros << 8)) &* 1_000
        here += Self.length
        return VenueTime.sum(self.start, sinceMidnight &+ fraction)
    }

    /// Reads another date; `false` if there is no valid one with its `T`.
    @inline(never)
    private mutating func takeDate(_ here: UnsafeRawPointer) -> Bool {
        guard
            here.byte(10) == "T",
            let start = VenueTime.startOfDay(UnsafeRawBufferPointer(start: here, count: 10))
        else { return false }
        self.head = here.word()
        self.tail = here.word(3)
        self.start = start
        return true
    }

    /// `00:00:00` and `.000000Z`, and the bytes in them that are not digits.
    private static var clock: UInt64 { 0x3030_3A30_303A_3030 }
    private static var colons: UInt64 { 0x0000_FF00_00FF_0000 }
    private static var micros: UInt64 { 0x5A30_3030_3030_302E }
    private static var ends: UInt64 { 0xFF00_0000_0000_00FF }
}
