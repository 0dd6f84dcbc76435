/// The parameters of one `permessage-deflate` element, in an offer or an answer (RFC 7692, 7.1).
struct DeflateParameters: Equatable {
    static let extensionName = "permessage-deflate"

    /// The client's window. An offer may name the parameter without a value, which allows the answer to set one.
    enum ClientWindow: Equatable {
        case absent
        case any
        case bits(Int)
    }

    var serverForgets = false
    var clientForgets = false
    var serverWindowBits: Int?
    var clientWindow = ClientWindow.absent

    init() {}

    /// Reads an element. `nil` for an unknown parameter, a repeated one, or an invalid value: each makes the whole
    /// element unacceptable (RFC 7692, 7).
    init?(_ element: WebSocketExtension) {
        guard element.name == Self.extensionName else { return nil }
        var seen: Set<String> = []
        for parameter in element.parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil):
                self.serverForgets = true
            case ("client_no_context_takeover", nil):
                self.clientForgets = true
            case ("server_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                self.serverWindowBits = bits
            case ("client_max_window_bits", nil):
                self.clientWindow = .any
            case ("client_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                self.clientWindow = .bits(bits)
            default:
                return nil
            }
        }
    }

    /// Reads a number from 8 to 15 without leading zeros (RFC 7692, 7.1.2).
    private static func windowBits(_ text: String) -> Int? {
        switch text {
        case "8": 8
        case "9": 9
        case "10": 10
        case "11": 11
        case "12": 12
        case "13": 13
        case "14": 14
        case "15": 15
        default: nil
        }
    }

    /// The element as the value of a header.
    var headerValue: String {
        var text = Self.extensionName
        if self.serverForgets { text += "; server_no_context_takeover" }
        if self.clientForgets { text += "; client_no_context_takeover" }
        if let bits = self.serverWindowBits { text += "; server_max_window_bits=\(bits)" }
        switch self.clientWindow {
        case .absent: break
        case .any: text += "; client_max_window_bits"
        case .bits(let bits): text += "; client_max_window_bits=\(bits)"
        }
        return text
    }
}
