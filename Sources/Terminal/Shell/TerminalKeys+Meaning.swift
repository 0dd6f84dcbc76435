// The meaning of complete sequences.
extension TerminalKeys {
    /// Returns the key of a control sequence (`ESC [`) or a single shift (`ESC O`).
    static func key(final: UInt8, parameters: [UInt8], isSingle: Bool) -> TerminalInput? {
        guard let numbers = Self.numbers(parameters) else { return nil }
        let modifier = isSingle ? numbers.first : (numbers.count > 1 ? numbers[1] : nil)
        let isShifted: Bool
        switch modifier ?? 1 {
        case 0, 1: isShifted = false
        case 2: isShifted = true
        // Alt or Ctrl make a different key, which has no meaning here.
        default: return nil
        }
        if final == UInt8(ascii: "~") {
            switch numbers.first ?? 0 {
            case 11...15: return .key(.function((numbers.first ?? 11) - 10))
            case 17...21: return .key(.function((numbers.first ?? 17) - 11))
            case 23, 24: return .key(.function((numbers.first ?? 23) - 12))
            case let number: return Self.edited(number).map { .key(isShifted ? .shifted($0) : .named($0)) }
            }
        }
        switch final {
        case UInt8(ascii: "P")...UInt8(ascii: "S") where isSingle || numbers.first == 1:
            return .key(.function(Int(final - UInt8(ascii: "P")) + 1))
        // Enter on the number pad.
        case UInt8(ascii: "M") where isSingle: return .key(.named(.enter))
        case UInt8(ascii: "Z") where !isSingle: return .key(.shifted(.tab))
        // The arrows with Shift in rxvt.
        case UInt8(ascii: "a")...UInt8(ascii: "d") where !isSingle:
            return Self.arrow(final - 0x20).map { .key(.shifted($0)) }
        default: return Self.arrow(final).map { .key(isShifted ? .shifted($0) : .named($0)) }
        }
    }

    /// Returns the action of the mouse that `ESC [ <` reports; `nil` for one without a meaning, and for a sequence that
    /// is too long to be held whole.
    static func mouse(final: UInt8, parameters: [UInt8]) -> TerminalInput? {
        guard parameters.count < Self.maximumParameters, let numbers = Self.numbers(Array(parameters.dropFirst()))
        else { return nil }
        return TerminalMouse(final: final, numbers: numbers).map { .mouse($0) }
    }

    private static func arrow(_ final: UInt8) -> TerminalKey.Name? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        default: nil
        }
    }

    /// Returns the key of the block above the arrows, as the VT220 and rxvt number it.
    private static func edited(_ number: Int) -> TerminalKey.Name? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        default: nil
        }
    }

    /// Returns the parameters of a sequence, which semicolons separate; `nil` for other characters, which answers have.
    private static func numbers(_ parameters: [UInt8]) -> [Int]? {
        var numbers: [Int] = []
        for part in parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            var number = 0
            for byte in part {
                guard (0x30...0x39).contains(byte), number < 100_000 else { return nil }
                number = number * 10 + Int(byte - 0x30)
            }
            numbers.append(number)
        }
        return parameters.isEmpty ? [] : numbers
    }
}
