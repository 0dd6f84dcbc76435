import Glibc
import NIOCore
import Wire

/// The clicks on a block of i3blocks, from 1.5 on: one JSON object a line, with the number of the button.
///
/// The left button and the wheel downwards show the next symbol, the right button and the wheel upwards the one before.
struct BarClicks {
    /// The most bytes of a line; the rest of a longer one is skipped.
    static let maximumLine = 4_096

    let descriptor: Int32
    private var line: [UInt8] = []
    private var isTooLong = false
    /// Whether no click can come any more.
    private(set) var isAtEnd = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reads once and returns the clicks of the lines that are whole. Call it when poll(2) says that there is something.
    mutating func read() -> [SymbolStep] {
        var bytes = [UInt8](repeating: 0, count: Self.maximumLine)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(self.descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            self.isAtEnd = count == 0 || errno != EAGAIN && errno != EINTR
            return []
        }
        return self.take(bytes[..<count])
    }

    /// Takes bytes and returns the clicks of the lines that they complete.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> [SymbolStep] {
        var steps: [SymbolStep] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                if self.line.count < Self.maximumLine { self.line.append(byte) } else { self.isTooLong = true }
                continue
            }
            if !self.isTooLong, let step = Self.step(self.line) { steps.append(step) }
            self.line.removeAll(keepingCapacity: true)
            self.isTooLong = false
        }
        return steps
    }

    private static func step(_ line: [UInt8]) -> SymbolStep? {
        // The buttons of X: left, middle, right, wheel up and wheel down.
        switch Self.button(line) {
        case 1, 5: .next
        case 3, 4: .previous
        default: nil
        }
    }

    /// Returns the value of `button` in an object, which i3blocks writes as a number or as a text.
    private static func button(_ line: [UInt8]) -> Int64? {
        line.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            var button: Int64?
            let isWhole = reader.object { key, reader in
                guard key.text == "button" else { return reader.skipValue() }
                switch reader.kind() {
                case .number: button = reader.integer()
                case .string: button = reader.string().flatMap { Int64($0.text) }
                case .object, .array, .literal, .invalid: return reader.skipValue()
                }
                return true
            }
            return isWhole ? button : nil
        }
    }
}
