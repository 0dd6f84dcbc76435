/// The relay that a screen shows, with its URL (`ws://127.0.0.1:8080`).
package enum DisplayRelay: Sendable, Equatable {
    /// The program's relay listens at this URL.
    case open(String)
    /// The program's relay does not listen at this URL yet, or cannot; with the reason, if it is known.
    case waiting(String, reason: String?)
    /// Another program's relay has this URL; with its process ID, if it is known.
    case others(String, pid: Int32?)
    /// The program's relay has stopped listening at this URL.
    case closed(String)
    /// The relay whose prices are shown.
    case watched(String)

    /// Returns the text in the last line, longest form first.
    ///
    /// - Parameter clients: the number of its clients, if it is known.
    func forms(clients: Int?) -> [String] {
        switch self {
        case .open(let address):
            guard let clients else { return ["relay \(address)"] }
            let count = DisplayView.count(clients, "client")
            return ["relay \(address), \(count)", count]
        case .waiting(let address, let reason):
            let because = reason.map { ": \($0)" } ?? ""
            return ["relay \(address) is not open\(because)", "relay \(address) is not open", "relay not open"]
        case .others(let address, let pid):
            let whose = pid.map { "pid \($0)" } ?? "another"
            return [
                "\(address) is the relay of another tickertape\(pid.map { " (pid \($0))" } ?? "")",
                "relay \(address) of \(whose)", "relay of \(whose)",
            ]
        case .closed(let address): return ["relay \(address) is closed", "relay closed"]
        case .watched(let address): return ["from the relay \(address)", "from a relay"]
        }
    }
}
