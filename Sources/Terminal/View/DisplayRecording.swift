/// The recording of the screen's program.
package struct DisplayRecording: Sendable, Equatable {
    /// The name of the newest file, without its folder.
    package var file: String
    /// The length of that file, bytes.
    package var bytes: UInt64
    /// Whether the disk takes what comes now.
    package var isTaken: Bool

    package init(file: String, bytes: UInt64, isTaken: Bool) {
        self.file = file
        self.bytes = bytes
        self.isTaken = isTaken
    }

    /// The text in the last line, longest form first.
    var forms: [String] {
        guard self.isTaken else { return ["NOT RECORDED: \(self.file)", "NOT RECORDED", "NO REC"] }
        return ["REC \(self.file) \(self.size)", "REC \(self.size)", "REC"]
    }

    var style: CellStyle { self.isTaken ? CellStyle(.plain, .bold) : CellStyle(.alarm, .bold) }

    /// The length in whole KiB, or with one decimal of a larger unit; cut, not rounded.
    private var size: String {
        let units: [(name: String, bits: UInt64)] = [("GiB", 30), ("MiB", 20)]
        for unit in units where self.bytes >> unit.bits > 0 {
            let rest = self.bytes & ((1 << unit.bits) - 1)
            return "\(self.bytes >> unit.bits).\((rest * 10) >> unit.bits) \(unit.name)"
        }
        return "\(self.bytes >> 10) KiB"
    }
}
