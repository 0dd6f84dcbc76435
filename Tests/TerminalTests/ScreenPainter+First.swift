@testable import Terminal

extension ScreenPainter {
    /// Returns the bytes that a new painter writes.
    func firstBytes(from old: ScreenGrid?, to new: ScreenGrid) -> [UInt8] {
        var painter = self
        return painter.bytes(from: old, to: new)
    }
}
