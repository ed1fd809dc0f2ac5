exports.example = async () => "made while planning, used while applying";
