/// The relay of which a screen tells, by its address as a person writes it (`ws://127.0.0.1:8080`).
package enum DisplayRelay: Sendable, Equatable {
    /// The program's own, which listens there.
    case open(String)
    /// The program's own, which does not listen there (yet); with the reason, if one is known.
    case waiting(String, reason: String?)
    /// At the address is the relay of another program, with its process id where that is known.
    case others(String, pid: Int32?)
    /// The program's own, which has listened there.
    case closed(String)
    /// The one whose prices are shown.
    case watched(String)

    /// What the last line says of it, longest form first.
    ///
    /// - Parameter clients: how many it has, if that is known.
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
