/// The relay that a screen shows, with its URL (`ws://127.0.0.1:8080`) where one listens.
package enum DisplayRelay: Sendable, Equatable {
    /// The program's relay listens at this URL.
    case open(String)
    /// The program's relay does not listen yet, or cannot; with the reason, if it is known.
    case waiting(reason: String?)
    /// Another program's relay has this URL; with its process ID, if it is known.
    case others(String, pid: Int32?)
    /// The program's relay has stopped listening.
    case closed
    /// The relay whose prices are shown.
    case watched(String)

    /// Returns the address of the relay's page, which is the same with another scheme; `nil` for a Unix socket.
    private static func page(of address: String) -> String? {
        address.hasPrefix("ws") && address.contains("://") ? "http\(address.dropFirst(2))/" : nil
    }

    /// Returns the text in the last line, longest form first.
    ///
    /// - Parameter clients: the number of its clients, if it is known.
    func forms(clients: Int?) -> [String] {
        switch self {
        case .open(let address):
            let place = Self.page(of: address).map { "page \($0)" } ?? "relay \(address)"
            guard let clients else { return [place] }
            let count = DisplayView.count(clients, "client")
            return ["\(place), \(count)", count]
        case .waiting(let reason):
            return reason.map { ["relay not open: \($0)", "relay not open"] } ?? ["relay not open"]
        case .others(let address, let pid):
            let whose = pid.map { "pid \($0)" } ?? "another"
            return [
                "\(address) is the relay of another tickertape\(pid.map { " (pid \($0))" } ?? "")",
                "relay \(address) of \(whose)", "relay of \(whose)",
            ]
        case .closed: return ["relay closed"]
        case .watched(let address): return ["from the relay \(address)", "from a relay"]
        }
    }
}
