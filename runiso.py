import json,sys,subprocess,resource
