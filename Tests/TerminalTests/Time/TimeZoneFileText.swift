/// A compiled file of the time zone database, made for a test.
struct TimeZoneFileText {
    /// The offsets, s.
    var offsets: [Int32] = [0]
    /// The times, s since 1970, each with the place of its offset.
    var changes: [(time: Int64, offset: UInt8)] = []
    var footer = ""
    var leaps: Int32 = 0

    /// Middle Europe since 1996, with two changes of 2024 in the table.
    static let berlin = TimeZoneFileText(
        offsets: [3_600, 7_200],
        changes: [(1_711_846_800, 1), (1_729_990_800, 0)],
        footer: "CET-1CEST,M3.5.0,M10.5.0/3"
    )

    var bytes: [UInt8] {
        self.part(width: 4) + self.part(width: 8) + Array("\n\(self.footer)\n".utf8)
    }

    private func part(width: Int) -> [UInt8] {
        let counts = [0, 0, self.leaps, Int32(self.changes.count), Int32(self.offsets.count), 4]
        var bytes = Array("TZif2".utf8) + Array(repeating: 0, count: 15) + counts.flatMap { Self.bytes(Int64($0), 4) }
        bytes += self.changes.flatMap { Self.bytes($0.time, width) } + self.changes.map(\.offset)
        bytes += self.offsets.flatMap { Self.bytes(Int64($0), 4) + [0, 0] } + Array("XYZ\0".utf8)
        return bytes + Array(repeating: 0, count: Int(self.leaps) * (width + 4))
    }

    private static func bytes(_ number: Int64, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
    }
}
